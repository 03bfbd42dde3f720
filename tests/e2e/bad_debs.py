#!/usr/bin/env python3
"""bad_debs.py DIR: packages that must not be published, one for each line of standard output.

Each line is a file's name and a regular expression for the reason, with a tab between.
"""
import io
import os
import sys
import tarfile
import zlib

folder = sys.argv[1]
GOOD = """\
Package: bad
Version: 1.0
Architecture: amd64
Maintainer: Test <test@debkit.invalid>
Description: test package
"""


def gz(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def tar(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as t:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size, info.type = (0, tarfile.DIRTYPE) if data is None else (len(data), tarfile.REGTYPE)
            t.addfile(info, None if data is None else io.BytesIO(data))
    return out.getvalue()


def control_tar(text):
    return tar([("./", None), ("./control", text if isinstance(text, bytes) else text.encode())])


DATA = tar([("./", None), ("./usr/", None), ("./usr/x", b"x\n")])


def member(name, data, size=None):
    size = str(len(data)) if size is None else size
    return b"%-16s%-12d%-6d%-6d%-8s%-10s`\n" % (name.encode(), 0, 0, 0, b"100644", size.encode()) + data + \
        b"\n" * (len(data) & 1)


def deb(control=GOOD, data=None, version=b"2.0\n", members=None):
    if members is None:
        members = [member("debian-binary", version), member("control.tar.gz", gz(control_tar(control))),
                   member("data.tar.gz", gz(DATA if data is None else data))]
    return b"!<arch>\n" + b"".join(members)


def put(name, reason, content):
    with open(os.path.join(folder, name + ".deb"), "wb") as f:
        f.write(content)
    print(f"{name}.deb\t{reason}")


def change(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


BIN, CTL, DAT = (member("debian-binary", b"2.0\n"), member("control.tar.gz", gz(control_tar(GOOD))),
                 member("data.tar.gz", gz(DATA)))

# The container.
put("empty", "", b"")
put("no-archive", "", b"this is no archive\n")
put("format-3", "3.0", deb(version=b"3.0\n"))
put("format-none", "", deb(members=[CTL, DAT]))
put("order", "", deb(members=[BIN, DAT, CTL]))
put("two-controls", "", deb(members=[BIN, CTL, CTL, DAT]))
put("no-data", "data.tar", deb(members=[BIN, CTL]))
put("two-datas", "", deb(members=[BIN, CTL, DAT, DAT]))
put("negative-size", "", deb(members=[BIN, member("control.tar.gz", b"x", "-5"), DAT]))
put("size-beyond-end", "", deb(members=[BIN, CTL, member("data.tar.gz", gz(DATA), "999999")]))
put("cut", "", deb()[:-30])
# The tars.
put("data-cut", "", deb(members=[BIN, CTL, member("data.tar.gz", gz(DATA)[:-20])]))
put("data-zero", "", deb(members=[BIN, CTL, member("data.tar.gz", b"")]))
put("data-no-tar", "", deb(data=b"no tar at all" * 100))
put("data-escapes", "", deb(data=tar([("./", None), ("./../../etc/x", b"x")])))
put("control-missing", "control", deb(members=[BIN, member("control.tar.gz", gz(tar([("./", None)]))), DAT]))
put("control-bomb", "", deb(control=GOOD.encode() + b" x\n" * (9 << 20)))
# The control file.
put("no-package", "Package", deb(change("Package: bad\n", "")))
put("no-version", "Version", deb(change("Version: 1.0\n", "")))
put("no-architecture", "Architecture", deb(change("Architecture: amd64\n", "")))
put("twice", "Version", deb(GOOD + "Version: 2.0\n"))
put("name-upper", "Package|Bad", deb(change("Package: bad", "Package: Bad")))
put("name-climbs", "Package|\\.\\.", deb(change("Package: bad", "Package: ../../x")))
put("source-climbs", "Source", deb(GOOD + "Source: ../../../x\n"))
put("version-climbs", "Version|version", deb(change("Version: 1.0", "Version: 1/../../x")))
put("version-letters", "ersion", deb(change("Version: 1.0", "Version: abc def")))
put("architecture-two", "rchitecture", deb(change("Architecture: amd64", "Architecture: amd64 arm64")))
put("depends", "Depends", deb(GOOD + "Depends: libc6 (>> 2.34\n"))
put("depends-operator", "Depends", deb(GOOD + "Depends: libc6 (~> 2.34)\n"))
put("depends-empty", "Depends", deb(GOOD + "Depends: a, (= 1)\n"))
put("provides", "Provides", deb(GOOD + "Provides: x (= 1) y\n"))
put("conflicts", "Conflicts", deb(GOOD + "Conflicts: a ||\n"))
put("nul", "", deb(GOOD.encode().replace(b"test package", b"test\0package")))
put("latin1", "", deb(GOOD.encode().replace(b"test package", b"test \xe9 package")))
put("no-colon", "", deb(GOOD + "just words\n"))
put("two-stanzas", "", deb(GOOD + "\nPackage: other\nVersion: 1\n"))
put("starts-indented", "", deb(" x\n" + GOOD))
put("long-name", "", deb(change("Package: bad", "Package: " + "b" * 300)))
