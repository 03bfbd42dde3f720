#!/usr/bin/env python3
"""gen_debs.py DIR N [--first I] [--arch ARCH]: N small, valid, different packages, the same each time.

Names are families of CUDA extensions, the control data is as rich as such packages have it, and
data.tar holds a dozen files. No program is run for them: ten thousand take some seconds.
"""
import argparse
import concurrent.futures
import hashlib
import io
import os
import tarfile
import zlib

EPOCH = 1700000000
FAMILIES = [
    "apex", "bitsandbytes", "causal-conv1d", "deepspeed-ops", "detectron2", "flash-attn", "gsplat",
    "mamba-ssm", "natten", "nerfacc", "pytorch3d", "spconv", "torch-scatter", "torch-sparse",
    "transformer-engine", "vllm-kernels", "xformers",
]
CONTROL = """\
Package: {name}
Source: {family}-cuda
Version: {version}
Architecture: {arch}
Maintainer: Test Builders <builders@debkit.invalid>
Installed-Size: {size}
Depends: python3 (>= 3.11), python3 (<< 3.12), cuda-cudart-12-8, libc6 (>= 2.34), libstdc++6 (>= 12)
Recommends: nvidia-driver-570 | nvidia-driver (>= 570)
Provides: python3-{family} (= {version})
Section: python
Priority: optional
Multi-Arch: same
Homepage: https://debkit.invalid/{family}
Debkit-Cuda: 12.8
Debkit-Cuda-Archs: {gpu}
Debkit-Torch: 2.{torch}
Description: CUDA extension {family} for compute capability {gpu}
 Device code of {family} for CUDA 12.8, compiled for {gpu}, with its Python files.
 .
 The kernels have forward and backward passes in half precision, in bfloat16 and
 in single precision, and need no compiler on the machine that runs them.
 .
 Build {build}
"""


def tar(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as t:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.mtime, info.uname, info.gname = EPOCH, "root", "root"
            info.mode = 0o755 if data is None else 0o644
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.size = 0 if data is None else len(data)
            t.addfile(info, None if data is None else io.BytesIO(data))
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(out.getvalue()) + packer.flush()


def ar(members):
    out = [b"!<arch>\n"]
    for name, data in members:
        out.append(b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, EPOCH, 0, 0, b"100644", len(data)))
        out.append(data + b"\n" * (len(data) & 1))
    return b"".join(out)


def make(folder, i, arch):
    family = FAMILIES[i % len(FAMILIES)]
    gpu = ("8.0", "8.6", "8.9", "9.0", "10.0", "12.0")[i // len(FAMILIES) % 6]
    name = f"python3-{family}-cu128-n{i:06d}"
    torch = 8 + i % 4
    version = f"{1 + i % 3}.{i % 10}.0+torch2.{torch}-1"
    if i % 53 == 0:
        version = version.replace("+torch", "~rc1+torch")
    epoch = "1:" if i % 97 == 0 else ""
    build = hashlib.sha256(f"{name} {version} {arch}".encode()).hexdigest()
    control = CONTROL.format(name=name, family=family, version=epoch + version, arch=arch, gpu=gpu,
                             torch=torch, size=100000 + i % 50000, build=build[:32])
    base = f"./usr/lib/debkit/python/{family.replace('-', '_')}_{i}/"
    parts = base.split("/")
    entries = [("/".join(parts[:k]) + "/", None) for k in range(1, len(parts))]
    sums = []
    for k in range(12):
        path = base + ("__init__.py" if k == 0 else f"kernel_{k:03d}.so")
        data = f"# {name} {k} {build}\n".encode()
        entries.append((path, data))
        sums.append(f"{hashlib.md5(data).hexdigest()}  {path[2:]}\n")
    members = [
        (b"debian-binary", b"2.0\n"),
        (b"control.tar.gz", tar([("./", None), ("./control", control.encode()),
                                 ("./md5sums", "".join(sums).encode())])),
        (b"data.tar.gz", tar(entries)),
    ]
    with open(os.path.join(folder, f"{name}_{version}_{arch}.deb"), "wb") as f:
        f.write(ar(members))


def make_range(folder, first, n, arch):
    for i in range(first, first + n):
        make(folder, i, arch)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--arch", default="amd64")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    step = 500
    with concurrent.futures.ProcessPoolExecutor() as pool:
        jobs = [pool.submit(make_range, args.folder, i, min(step, args.first + args.n - i), args.arch)
                for i in range(args.first, args.first + args.n, step)]
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
