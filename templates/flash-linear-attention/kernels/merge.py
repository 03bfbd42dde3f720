#!/usr/bin/env python3
"""Makes the store of one Triton release out of what compile.py made for each arch and profile.

merge.py --site DIR --triton VERSION --record 3.11=FILE... --include 3.11=DIR... --out OUT IN...

OUT is a tar of triton-VERSION/, see ../README.md for what lies in it. --record names the RECORD of
the Triton wheel of each Python, --include the folder of its Python.h.
"""
import argparse
import hashlib
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile

import standins
import versions

FORMAT = "1"
KEY = 12        # bytes of a cache key that the key tables keep
PLATFORMS = ("x86_64,Linux,64bit,ELF", "x86_64,Linux,64bit,")  # with and without the program `file`
CFLAGS = ("-O2", "-fPIC", "-w", "-fvisibility=default")
LDFLAGS = ("-shared", "-s", "-Wl,-z,relro,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=none")


def fail(text):
    sys.exit(f"merge.py: error: {text}")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def squeeze(data):
    """xz for machine code of 8 and 16 byte words, with no more dictionary than there is data."""
    size = max(1 << 16, 1 << (len(data) - 1).bit_length())
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME,
                "dict_size": min(size, 64 << 20), "lc": 0, "lp": 3, "pb": 3}]
    return lzma.compress(data, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=filters)


class Arch:
    """The kernels of one GPU arch from all profiles: each cache key once, each cubin once."""

    def __init__(self):
        self.kernels = {}
        self.functions = {}
        self.cubins = {}

    def add(self, index, cubins):
        for kernel in index["kernels"]:
            self.kernels.setdefault(kernel["tail"], kernel)
        for name, function in index["functions"].items():
            known = self.functions.setdefault(name, function)
            if known != function:
                fail(f"kernel '{name}': two of the inputs were made from different sources")
        self.cubins.update(cubins)

    def blocks(self):
        """Cubins that are used together and are alike lie in one block: those of one kernel in one
        kind of call, of all profiles; inside it those of one configuration follow each other."""
        blocks, placed = {}, {}
        order = sorted(self.kernels.values(), key=lambda k: (
            k["name"], k["group"], k["meta"]["num_warps"], k["meta"]["num_stages"],
            k["meta"]["shared"], len(self.cubins[k["cubin"]]), k["tail"]))
        for kernel in order:
            if kernel["cubin"] not in placed:
                name = (kernel["name"], kernel["group"])
                block = blocks.setdefault(name, [len(blocks), 0, []])
                cubin = self.cubins[kernel["cubin"]]
                placed[kernel["cubin"]] = (block[0], block[1], len(cubin))
                block[1] += len(cubin)
                block[2].append(cubin)
        return [b"".join(block[2]) for block in blocks.values()], placed

    def pack(self):
        """(pack, index, cache key tails in the order of the entries)"""
        raw, placed = self.blocks()
        pack, blocks, entries, tails, metas = b"", [], [], [], {}
        for block in raw:
            data = squeeze(block)
            blocks.append([len(pack), len(data), sha256(data)])
            pack += data
        common = self.common()
        for tail, kernel in sorted(self.kernels.items()):
            own = {key: value for key, value in kernel["meta"].items()
                   if key not in common or common[key] != value}
            meta = metas.setdefault(json.dumps(own, sort_keys=True), len(metas))
            entries.append([*placed[kernel["cubin"]], kernel["name"], meta])
            tails.append(tail)
        index = {"common": common, "metas": [json.loads(meta) for meta in metas], "blocks": blocks,
                 "entries": entries, "functions": self.functions}
        text = json.dumps(index, sort_keys=True, separators=(",", ":")).encode()
        return pack, lzma.compress(text, lzma.FORMAT_XZ, lzma.CHECK_CRC32, preset=9), tails

    def common(self):
        """What stands in the metadata of every kernel alike."""
        metas = [kernel["meta"] for kernel in self.kernels.values()]
        return {key: value for key, value in (metas[0] if metas else {}).items()
                if all(meta.get(key, ()) == value for meta in metas)}


def cubin_arch(cubin):
    """From the ELF header: the low byte of e_flags, from ABI version 8 on the second one."""
    flags = int.from_bytes(cubin[48:52], "little")
    return flags >> (8 if cubin[8] >= 8 else 0) & 0xff


def read(path, triton):
    with tarfile.open(path) as tar:
        index = json.load(tar.extractfile("index.json"))
        cubins = {os.path.basename(name): tar.extractfile(name).read()
                  for name in tar.getnames() if name.startswith("cubins/")}
    if index["triton"] != triton:
        fail(f"'{path}' was made with triton {index['triton']}")
    for digest, cubin in cubins.items():
        if sha256(cubin) != digest:
            fail(f"'{path}' is damaged: make it again")
        if cubin_arch(cubin) != index["arch"]:
            fail(f"'{path}': a cubin is for sm_{cubin_arch(cubin)}, not for sm_{index['arch']}")
    return index, cubins


def table(start, tails):
    """Sorted records: the first bytes of the cache key, the number of the entry."""
    records = [hashlib.sha256((start + tail).encode()).digest()[:KEY] + number.to_bytes(4, "big")
               for number, tail in enumerate(tails)]
    return b"".join(sorted(records))


def build_stub(stub, site, include):
    """The shared object of one C source. Its path does not enter: it is compiled in place."""
    source = stub["name"] + ".c"
    headers = os.path.abspath(os.path.join(site, "triton", "backends", "nvidia", "include"))
    with tempfile.TemporaryDirectory() as tmp:
        def run(*argv):
            done = subprocess.run(argv, cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
            if done.returncode:
                fail(f"{argv[0]}: {done.stderr.strip()}")
            return done.stdout
        with open(os.path.join(tmp, source), "w") as file:
            file.write(stub["source"])
        run("gcc", *CFLAGS, "-isystem", headers, "-isystem", os.path.abspath(include), "-c", source,
            "-o", "stub.o")
        undefined = run("nm", "-u", "-P", "stub.o").split()
        driver = sorted(name for name in undefined if name.startswith("cu"))
        with open(os.path.join(tmp, "driver.s"), "w") as file:
            file.write(standins.assembly(driver))
        run("gcc", "-shared", "-nostdlib", "-Wl,-soname,libcuda.so.1", "-o", "libcuda.so.1",
            "driver.s")
        run("gcc", *LDFLAGS, "-o", "stub.so", "stub.o", "-L.", "-l:libcuda.so.1")
        with open(os.path.join(tmp, "stub.so"), "rb") as file:
            return file.read()


def stub_files(stubs, site, includes):
    """(path, shared object, manifest line) of each C source and Python."""
    for digest, stub in sorted(stubs.items()):
        keys = [sha256((stub["source"] + platform).encode()) for platform in PLATFORMS]
        for python, include in sorted(includes.items()):
            tag = "cp" + python.replace(".", "")
            suffix = f".cpython-{tag[2:]}-x86_64-linux-gnu.so"
            path = f"stubs/{digest[:32]}{suffix}"
            data = build_stub(stub, site, include)
            yield path, data, f"{tag} {stub['name']}{suffix} {digest} {' '.join(keys)} {path}"


def pairs(values, what):
    found = {}
    for value in values:
        python, equals, path = value.partition("=")
        if not equals or python in found:
            fail(f"--{what} {value}: it is VERSION=PATH, once for each version")
        found[python] = path
    return found


def dotted(arch):
    return f"{arch // 10}.{arch % 10}"


def manifest(args, archs, indexes, records, files, stub_lines):
    """deb822. Files lists the SHA-256 of every file but the manifest."""
    refused = sorted({f"{index['profile']} {dotted(index['arch'])} {part}: {text}"
                      for index in indexes for part, text in index["refused"].items()})
    starts = [f"{python} {sha256(start.encode())}" for python, start in sorted(records.items())]
    lines = [
        f"Format: {FORMAT}", f"Triton: {args.triton}",
        f"Python: {' '.join(sorted_pythons(records))}",
        f"Archs: {' '.join(dotted(arch) for arch in sorted(archs))}",
        f"Profiles: {' '.join(sorted({index['profile'] for index in indexes}))}"]
    sums = [f"{sha256(data)} {path}" for path, data in sorted(files.items())]
    for name, values in (("Refused", refused), ("Triton-Keys", starts), ("Stubs", stub_lines),
                         ("Files", sums)):
        if values:
            lines.append(f"{name}:\n " + "\n ".join(values))
    return ("\n".join(lines) + "\n").encode()


def sorted_pythons(records):
    return sorted(records, key=lambda python: [int(part) for part in python.split(".")])


def write(path, top, files):
    folders = {top} | {f"{top}/{os.path.dirname(name)}" for name in files if "/" in name}
    members = dict.fromkeys(folders) | {f"{top}/{name}": data for name, data in files.items()}
    with tarfile.open(path + ".tmp", "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(members.items()):
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.mode = 0o755 if data is None else 0o644
            info.size = len(data or b"")
            tar.addfile(info, io.BytesIO(data or b""))
    os.replace(path + ".tmp", path)


def collect(args):
    archs, indexes, stubs = {}, [], {}
    for path in sorted(args.kernels):
        index, cubins = read(path, args.triton)
        if index["kernels"]:
            archs.setdefault(index["arch"], Arch()).add(index, cubins)
        stubs.update(index["stubs"])
        indexes.append(index)
        for part, text in index["refused"].items():
            print(f"merge.py: profile '{index['profile']}', sm_{index['arch']}: {part} refused: "
                  f"{text}", file=sys.stderr)
    return archs, indexes, stubs


def main():
    parse = argparse.ArgumentParser()
    for name in ("site", "triton", "out"):
        parse.add_argument("--" + name, required=True)
    for name in ("record", "include"):
        parse.add_argument("--" + name, action="append", required=True)
    parse.add_argument("kernels", nargs="+")
    args = parse.parse_args()
    includes = pairs(args.include, "include")
    try:
        records = {python: versions.triton_key(args.triton, versions.read_record(path))
                   for python, path in pairs(args.record, "record").items()}
    except (OSError, versions.Unknown) as error:
        fail(error)
    if set(records) != set(includes):
        fail("--record and --include name different Pythons")
    archs, indexes, stubs = collect(args)
    files, stub_lines = {}, []
    for number, arch in sorted(archs.items()):
        pack, index, tails = arch.pack()
        files[f"sm_{number}.pack"], files[f"sm_{number}.index"] = pack, index
        for python, start in records.items():
            files[f"sm_{number}.cp{python.replace('.', '')}.keys"] = table(start, tails)
        print(f"sm_{number}: {len(tails)} kernels, {len(arch.cubins)} cubins of "
              f"{sum(map(len, arch.cubins.values()))} bytes, packed {len(pack) + len(index)} bytes")
    for path, data, line in stub_files(stubs, args.site, includes):
        files[path] = data
        stub_lines.append(line)
    files["manifest"] = manifest(args, archs, indexes, records, files, stub_lines)
    write(args.out, f"triton-{args.triton}", files)


if __name__ == "__main__":
    main()
