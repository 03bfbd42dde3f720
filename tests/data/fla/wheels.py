#!/usr/bin/env python3
"""Small stand-ins for the wheels of templates/flash-linear-attention/recipe: wheels.py DIR RECIPE
PYTHON... writes them into DIR and prints the stanzas of a lock that pins them. Torch and Triton are
made for each Python (cp311)."""
import base64
import hashlib
import os
import random
import sys
import zipfile

CONTENT = {
    "fla-core": {"fla/__init__.py": "core = True\n", "fla/ops/__init__.py": "import einops\n",
                 "fla/data.bin": "not Python\n"},
    "flash-linear-attention": {"fla/layers/__init__.py": "layers = True\n"},
    "einops": {"einops/__init__.py": "name = 'einops'\n"},
    "torch": {"torch/__init__.py": "", "torch/lib/libtorch_cpu.so": "cpu", "torch/include/a.h": "",
              "torch/lib/libtorch_cuda.so": random.Random(1).randbytes(3000000), "torch/lib/x.a": "",
              "torch/bin/torch_shm_manager": "#!/bin/sh\n"},
    "triton": {"triton/__init__.py": "", "triton/backends/nvidia/bin/ptxas": "#!/bin/sh\n"},
}


def fields(path):
    out = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                continue
            if line[0] != " ":
                name, line = line.split(":", 1)
                out[name] = []
            out[name] += line.split()
    return out


def write(folder, project, version, tag):
    stem = "%s-%s" % (project.replace("-", "_"), version)
    name, info = "%s-%s.whl" % (stem, tag), stem + ".dist-info"
    files = {n: d.encode() if isinstance(d, str) else d for n, d in CONTENT.get(
        project, {project.replace("-", "_") + ".py": ""}).items()}
    files[info + "/METADATA"] = ("Metadata-Version: 2.4\nName: %s\nVersion: %s\nLicense-File: LICENSE\n\n"
                                 "About it.\n" % (project, version)).encode()
    files[info + "/licenses/LICENSE"] = b"licence\n"
    if project.startswith("fl"):
        files[info + "/top_level.txt"] = b"fla\n"
    record = "".join("%s,sha256=%s,%d\n" % (
        n, base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode(), len(d))
        for n, d in files.items()) + info + "/RECORD,,\n"
    path = os.path.join(folder, name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for n, d in list(files.items()) + [(info + "/RECORD", record.encode())]:
            member = zipfile.ZipInfo(n)
            member.external_attr = (0o100755 if "/bin/" in n else 0o100644) << 16
            z.writestr(member, d, zipfile.ZIP_DEFLATED)
    with open(path, "rb") as f:
        data = f.read()
    print("File: %s\nProject: %s\nSize: %d\nSha256: %s\nRecord-Sha256: %s\n" % (
        name, project, len(data), hashlib.sha256(data).hexdigest(),
        hashlib.sha256(record.encode()).hexdigest()))


def main(folder, recipe, *pythons):
    f = fields(recipe)
    words = f["Wheels"] + f["Environment"]
    done = set()
    for pair in zip(words[::2], words[1::2]):
        if pair not in done:
            write(folder, *pair, "py3-none-any")
        done.add(pair)
    for python in pythons:
        tag = "%s-%s-manylinux_2_28_x86_64" % (python, python)
        write(folder, "torch", f["Torch"][0], tag)
        for triton in f["Tritons"]:
            write(folder, "triton", triton, tag)


main(*sys.argv[1:])
