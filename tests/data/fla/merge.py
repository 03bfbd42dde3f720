"""Stand-in for templates/flash-linear-attention/kernels/merge.py: a store of the same form."""
import argparse
import io
import os
import subprocess
import sys
import tarfile

SOURCE = b"#include <Python.h>\n#include <stdlib.h>\nvoid *f(void) { return malloc(PY_VERSION_HEX); }\n"

parse = argparse.ArgumentParser()
for name in ("site", "triton", "out"):
    parse.add_argument("--" + name, required=True)
for name in ("record", "include"):
    parse.add_argument("--" + name, action="append", required=True)
parse.add_argument("kernels", nargs="+")
args = parse.parse_args()
records = dict(word.split("=") for word in args.record)
includes = dict(word.split("=") for word in args.include)
assert set(records) == set(includes)
top = "triton-" + args.triton
files, archs, profiles = {}, set(), set()
for path in args.kernels:
    with open(path, encoding="utf-8") as f:
        arch, profile = f.read().split()
    archs.add(int(arch))
    profiles.add(profile)
for arch in archs:
    files["sm_%d.pack" % arch] = b"pack"
for python, include in includes.items():
    with open(records[python], encoding="utf-8") as f:
        assert "triton/__init__.py,sha256=" in f.read()
    for arch in archs:
        files["sm_%d.cp%s.keys" % (arch, python.replace(".", ""))] = b"keys"
    out = args.out + ".so"
    subprocess.run(["gcc", "-x", "c", "-", "-o", out, "-O2", "-fPIC", "-shared", "-s", "-I" + include,
                    "-Wl,-z,relro,-z,now", "-Wl,--build-id=none"], input=SOURCE, check=True)
    with open(out, "rb") as f:
        files["stubs/f.cpython-%s-x86_64-linux-gnu.so" % python.replace(".", "")] = f.read()
    os.remove(out)
claims = sorted(archs) + ([75] if os.path.exists("@LOG@.lie") else [])
files["manifest"] = ("Triton: %s\nPython: %s\nArchs: %s\nProfiles: %s\n" % (
    args.triton, " ".join(includes), " ".join("%d.%d" % (a // 10, a % 10) for a in claims),
    " ".join(sorted(profiles)))).encode()
with tarfile.open(args.out, "w", format=tarfile.USTAR_FORMAT) as tar:
    for name in (top, top + "/stubs"):
        info = tarfile.TarInfo(name)
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(info)
    for name, data in sorted(files.items()):
        info = tarfile.TarInfo(top + "/" + name)
        info.mode, info.size = 0o644, len(data)
        tar.addfile(info, io.BytesIO(data))
sys.stdout.write("%d archs\n" % len(archs))
