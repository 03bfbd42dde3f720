#!/usr/bin/env python3
"""Makes libraries that let a real torch be imported where CUDA's own libraries are absent.

standins.py --torch DIR [--out DIR] [--without SONAME...] [--link SONAME=FILE...]

Every library that torch's libraries need and that neither torch/lib nor the system has gets a
stand-in with that SONAME. It defines each symbol, with its version, that torch's libraries look
for and nobody defines: functions return 0, type information is valid and anonymous. --without
treats a library of torch's own as absent too. --link gives FILE's symbols first place: the
stand-in of that SONAME is linked with it and defines only what it lacks. A library that is in
--out already (default: torch/lib) is left alone.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

SYSTEM = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib",
          "/usr/lib")


def run(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))


def symbols(path, *flags):
    """(name, version or '') of the dynamic symbols that nm lists, without the optional ones."""
    out = run("nm", "-D", "--with-symbol-versions", "--format=posix", *flags, path)
    found = set()
    for line in out.splitlines():
        symbol, kind = line.split()[:2]
        name, _, version = symbol.replace("@@", "@").partition("@")
        if kind not in "wv":
            found.add((name, version))
    return found


def version_owner(path):
    """Symbol version -> SONAME, from the version needs of a library."""
    owner, soname = {}, None
    for line in run("readelf", "-VW", path).splitlines():
        if match := re.search(r"File: (\S+)", line):
            soname = match[1]
        elif (match := re.search(r"Name: (\S+) ", line)) and soname:
            owner[match[1]] = soname
    return owner


def in_system(soname):
    """The path of the system's own library of this name, or None."""
    paths = (os.path.join(folder, soname) for folder in SYSTEM)
    return next(filter(os.path.exists, paths), None)


def survey(torch, without):
    """SONAME -> set of (symbol, version) that its stand-in must define."""
    lib = os.path.join(torch, "lib")
    own = {name for name in os.listdir(lib) if ".so" in name} - set(without)
    users = [os.path.join(lib, name) for name in sorted(own)]
    defined, wanted = set(), {}
    system = {in_system(soname) for path in users for soname in needed(path)} - {None}
    for path in [*users, *system]:
        defined |= {name for name, _ in symbols(path, "--defined-only")}
    for path in users:
        absent = [name for name in needed(path) if name not in own and not in_system(name)]
        for soname in absent:
            wanted.setdefault(soname, set())
        if not absent:
            continue
        owner = version_owner(path)
        for name, version in symbols(path, "--undefined-only"):
            if name in defined or (version and owner.get(version) not in absent):
                continue
            if version or not name.startswith(("__cxa_", "__gmon", "_ITM_")):
                wanted[owner.get(version, absent[0])].add((name, version))
    return wanted


def assembly(names):
    """C functions return 0, C++ ones blank memory; _ZTI gets a name, other data is zero."""
    lines = ["\t.text", "zero:\txorl %eax, %eax", "\tret",
             "blank:\tleaq room(%rip), %rax", "\tret", "\t.local room", "\t.comm room,65536,64"]
    data = [name for name in names if name.startswith(("_ZTV", "_ZTI", "_ZTS"))]
    for name in names:
        if name not in data:
            body = "blank" if name.startswith("_Z") else "zero"
            lines += [f"\t.globl {name}", f"\t.type {name}, @function", f"\t.set {name}, {body}"]
    lines += ["\t.section .data.rel.ro,\"aw\"", "\t.balign 16"]
    for name in data:
        lines += [f"\t.globl {name}", f"\t.type {name}, @object", f"\t.size {name}, 512", f"{name}:"]
        lines += [f"\t.quad 0, text_{name}, 0", "\t.zero 488"] if name.startswith("_ZTI") else ["\t.zero 512"]
        lines.append(f"\t.section .rodata\ntext_{name}:\t.string \"*{name}\"\n\t.section .data.rel.ro")
    return "\n".join(lines) + "\n\t.section .note.GNU-stack,\"\",@progbits\n"


def make(soname, wanted, out, link):
    have = set()
    if link:
        have = {line.split()[0] for line in
                run("nm", "--defined-only", "-g", "--format=posix", link).splitlines()}
    names = sorted({name for name, _ in wanted if name not in have})
    versions = sorted({version for _, version in wanted if version})
    with tempfile.TemporaryDirectory() as tmp:
        source, script = os.path.join(tmp, "s.s"), os.path.join(tmp, "s.map")
        with open(source, "w") as file:
            file.write(assembly(names))
        argv = ["gcc", "-shared", "-nostartfiles", "-Wl,-soname," + soname, "-o",
                os.path.join(out, soname), source] + ([link, "-ldl"] if link else [])
        if len(versions) == 1:
            with open(script, "w") as file:
                file.write(f"{versions[0]} {{ global: *; }};\n")
            argv.append("-Wl,--version-script," + script)
        elif versions:
            sys.exit(f"standins: '{soname}' has more than one symbol version: {' '.join(versions)}")
        run(*argv)
    return len(names)


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--torch", required=True)
    parse.add_argument("--out")
    parse.add_argument("--without", action="append", default=[])
    parse.add_argument("--link", action="append", default=[])
    args = parse.parse_args()
    out = args.out or os.path.join(args.torch, "lib")
    links = dict(item.split("=", 1) for item in args.link)
    os.makedirs(out, exist_ok=True)
    for soname, wanted in sorted(survey(args.torch, args.without).items()):
        if os.path.exists(os.path.join(out, soname)):
            continue
        count = make(soname, wanted, out, links.get(soname))
        print(f"standins: {soname}: {count} symbols")


if __name__ == "__main__":
    main()
