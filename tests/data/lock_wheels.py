#!/usr/bin/env python3
"""Wheels of made-up projects for tests/e2e/lock.t: lock_wheels.py DIR make FILE [TRITON] writes one,
lock_wheels.py DIR stanza FILE PROJECT [INDEX] prints what the lock must say of one."""
import base64
import hashlib
import os
import random
import subprocess
import sys
import zipfile


def members(name, triton):
    info = "-".join(name.split("-")[:2]) + ".dist-info"
    text = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % tuple(name.split("-")[:2])
    if triton:
        text += 'Requires-Dist: filelock\nRequires-Dist: triton%s; platform_system == "Linux"\n' % triton
    out = {"noise": random.Random(name).randbytes(3000000)}
    library = {"torch": "torch/lib/libc10.so",
               "demo_runtime": "nvidia/cuda_runtime/lib/libcudart.so.12"}.get(name.split("-")[0])
    if library:
        with open(os.path.join(os.path.dirname(sys.argv[1]), "lib.so"), "rb") as f:
            out[library] = f.read()
    out[info + "/METADATA"] = text.encode()
    return info + "/RECORD", out


def make(path, triton=""):
    record_name, files = members(os.path.basename(path), triton)
    lines = ["%s,sha256=%s,%d" % (n, base64.urlsafe_b64encode(hashlib.sha256(d).digest())
                                  .rstrip(b"=").decode(), len(d)) for n, d in files.items()]
    files[record_name] = ("\n".join(lines) + "\n%s,,\n" % record_name).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for n, d in files.items():
            z.writestr(zipfile.ZipInfo(n), d, zipfile.ZIP_DEFLATED)


def exports(z, path):
    """The list of debbuild/abi/exports.h, with nm as the judge."""
    text = "wheel %s\n" % os.path.basename(path)
    for name in sorted((n for n in z.namelist() if "/lib/" in n), key=os.path.basename):
        with open(path + ".so", "wb") as f:
            f.write(z.read(name))
        said = subprocess.run(["nm", "-D", "--defined-only", f.name], capture_output=True, text=True,
                              check=True).stdout
        os.remove(f.name)
        text += "library %s\n" % os.path.basename(name)
        text += "".join(sorted(l.split()[2] + "\n" for l in said.splitlines()))
    return text


def stanza(path, project, index=""):
    with open(path, "rb") as f:
        data = f.read()
    print("File: %s\nProject: %s\nSize: %d\nSha256: %s" % (
        os.path.basename(path), project, len(data), hashlib.sha256(data).hexdigest()))
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as z:
            record = [n for n in z.namelist() if n.endswith("/RECORD")][0]
            print("Record-Sha256: " + hashlib.sha256(z.read(record)).hexdigest())
            if any("/lib/" in n for n in z.namelist()):
                print("Exports-Sha256: " + hashlib.sha256(exports(z, path).encode()).hexdigest())
    if index:
        print("Index: " + index)
    print()


folder, verb, name, *more = sys.argv[1:]
{"make": make, "stanza": stanza}[verb](os.path.join(folder, name), *more)
