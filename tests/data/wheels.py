"""Wheels of a small torch, honest or broken in one way.

As a program: wheels.py KIND FILE writes one and prints the SHA-256 of its RECORD.
"""
import base64
import functools
import hashlib
import io
import random
import stat
import sys
import warnings
import zipfile

VERSION = "1.0.0"
NAME = "torch-%s-cp311-cp311-manylinux_2_28_x86_64.whl" % VERSION
INFO = "torch-%s.dist-info" % VERSION
HEADER = "torch/include/a.h"
EOCD = b"PK\5\6"
warnings.simplefilter("ignore")  # zipfile warns of the duplicate that is wanted here


def files(kind):
    noise = random.Random(1)
    cuda = {"other-cuda": "'13.0'", "no-cuda": "None"}.get(kind, "'12.8'")
    version = "9.9.9" if kind == "other-version-inside" else VERSION
    out = {
        "torch/__init__.py": b"import os\n" * 500,
        "torch/bin/tool": b"#!/bin/sh\n",
        HEADER: b"#pragma once\n" * 400,
        "torch/include/sub/b.h": b"// " + noise.randbytes(90000) + b"\n",
        "torch/include/sub/empty.h": b"",
        "torch/lib/libbig.so": noise.randbytes(300000),
        "torch/version.py": ("from typing import Optional\n\n__all__ = ['__version__', 'cuda']\n"
                             "__version__ = '%s+cu128'\ndebug = False\n"
                             "cuda: Optional[str] = %s\ngit_version = 'abc'\n"
                             % (version, cuda)).encode(),
        INFO + "/METADATA": b"Metadata-Version: 2.1\nName: torch\n",
    }
    if kind == "no-version":
        del out["torch/version.py"]
    if kind == "comma":
        out["torch/include/a,b\".h"] = b"// quoted in RECORD\n"
    return out


def record(members, kind):
    lines = []
    for name, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        quoted = '"%s"' % name.replace('"', '""') if "," in name else name
        lines.append("%s,sha256=%s,%d" % (quoted, digest, len(data)))
    if kind == "unlisted":
        lines = [l for l in lines if not l.startswith(HEADER)]
    if kind == "not-there":
        lines.append("torch/include/gone.h,sha256=%s,4" % ("A" * 43))
    if kind == "record-md5":
        lines[0] = "torch/__init__.py,md5=abc,3"
    if kind == "record-fields":
        lines[1] = "torch/bin/tool,"
    if kind == "record-twice":
        lines.append(lines[0])
    if kind == "record-no-hash":
        lines = [HEADER + ",," if l.startswith(HEADER) else l for l in lines]
    return ("\r\n" if kind == "crlf" else "\n").join(lines + [INFO + "/RECORD,,", ""]).encode()


def write(z, name, data, kind):
    info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    mode = 0o755 if name == "torch/bin/tool" else 0o644
    info.external_attr = (stat.S_IFREG | mode) << 16
    if kind == "link" and name == HEADER:
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
    info.compress_type = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
    z.writestr(info, data)


class Pipe(io.RawIOBase):
    """A stream that cannot seek: zipfile then writes data descriptors."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, b):
        self.data += b
        return len(b)


def build(kind):
    members = files(kind)
    text = record(members, kind)
    if kind == "member-changed":
        members[HEADER] = b"#pragma twice\n" * 400
    info = "torch-0.9.0.dist-info" if kind == "other-version" else INFO
    out = Pipe() if kind == "descriptor" else io.BytesIO()
    limit = zipfile.ZIP64_LIMIT
    zipfile.ZIP64_LIMIT = 10 if kind == "zip64" else limit
    with zipfile.ZipFile(out, "w") as z:
        if kind == "comment":
            z.comment = b"x" * 300
        if kind == "comment-end":
            z.comment = b"PK\5\6 is no end record " + b"x" * 300
        for name, data in members.items():
            write(z, name.replace(INFO, info), data, kind)
        if kind == "dotdot":
            write(z, "torch/include/../../../evil.h", b"evil", kind)
        if kind == "absolute":
            write(z, "/torch/include/evil.h", b"evil", kind)
        if kind == "duplicate":
            write(z, HEADER, members[HEADER], kind)
        if kind == "folder":
            z.writestr("torch/include/more/", b"")
        if kind != "no-record":
            write(z, info + "/RECORD", text, kind)
        if kind == "record-double":
            write(z, info + "/RECORD", text, kind)
    zipfile.ZIP64_LIMIT = limit
    return bytes(out.data) if kind == "descriptor" else out.getvalue()


def patch(b, at, new):
    return b[:at] + new + b[at + len(new):]


def central(b, name):
    return b.rindex(name.encode(), 0, b.rindex(EOCD)) - 46


def damage(b, kind):
    """Breaks the built zip file in one place."""
    at, end, local = central(b, HEADER), b.rindex(EOCD), b.index(HEADER.encode()) - 30
    if kind == "encrypted":
        return patch(patch(b, at + 8, b"\1"), local + 6, b"\1")
    if kind == "method":
        return patch(patch(b, at + 10, b"\x63\0"), local + 8, b"\x63\0")
    if kind == "crc":
        return patch(b, at + 16, b"\1\2\3\4")
    if kind == "bomb":
        return patch(b, at + 24, b"\5\0\0\0")
    if kind == "no-local":
        return patch(b, local, b"\0\0\0\0")
    if kind == "deflate":
        return patch(b, local + 30 + len(HEADER), b"\xff" * 20)
    if kind == "overlap":
        return patch(b, at + 42, (2).to_bytes(4, "little"))
    if kind == "far":
        return patch(b, at + 42, b"\xf0\xff\xff\x7f")
    if kind == "no-zip64":
        return patch(b, at + 42, b"\xff\xff\xff\xff")
    if kind == "split":
        return patch(b, end + 4, b"\1\0\1\0")
    if kind == "directory-far":
        return patch(b, end + 16, b"\xf0\xff\xff\x7f")
    if kind == "directory-many":
        return patch(b, end + 8, b"\xff\xff\xff\xff")
    if kind == "directory-broken":
        return patch(b, at, b"PKxx")
    if kind == "directory-long":
        return patch(b, at + 30, b"\xff\xff")
    if kind == "nul":
        return patch(b, at + 46 + 5, b"\0")
    if kind == "cut":
        return b[:end - 100]
    if kind == "noise":
        return random.Random(2).randbytes(5000)
    if kind == "tiny":
        return b"PK"
    return b


@functools.lru_cache(maxsize=None)
def get(kind):
    return damage(build(kind), kind)


def record_hash(wheel):
    z = zipfile.ZipFile(io.BytesIO(wheel))
    name = [n for n in z.namelist() if n.endswith("/RECORD")][0]
    return hashlib.sha256(z.read(name)).hexdigest()


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as f:
        f.write(get(sys.argv[1]))
    print(record_hash(get(sys.argv[1])))
