"""What is known of each Triton: which releases, and how a release names itself in its cache keys.

triton_key() hashes the files of the installed Triton. The same hashes stand in the wheel's RECORD,
so the key for a Python that is not installed follows from that Python's RECORD alone.
"""
import base64
import csv
import inspect

# Releases whose compile(), cache and launcher were read and whose keys were proved. Not 3.4:
# flash-linear-attention 0.6.0 cannot be imported with it (it wants what Gluon got later).
KNOWN = ("3.5.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0")

# File by file as triton_key() goes; True: walk the folder, False: one file.
PARTS = (
    ("triton/runtime/cache.py", False),
    ("triton/compiler", True),
    ("triton/backends", True),
    ("triton/_C/libtriton.so", False),
    ("triton/language", True),
)


class Unknown(Exception):
    """This Triton is not laid out as debkit knows."""


def read_record(path):
    """Path in the wheel -> SHA-256 in hexadecimal."""
    hashes = {}
    with open(path, newline="") as file:
        for row in csv.reader(file):
            if len(row) >= 2 and row[1].startswith("sha256="):
                digest = row[1][len("sha256="):]
                hashes[row[0]] = base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4)).hex()
    return hashes


def walk(hashes, folder):
    """The hashes of a package folder in the order of pkgutil.walk_packages."""
    below = folder + "/"
    children = {path[len(below):].split("/")[0] for path in hashes if path.startswith(below)}
    done = set()
    for child in sorted(children):
        path = below + child
        name = inspect.getmodulename(child) if path in hashes else child
        if not name or name == "__init__" or "." in name or name in done:
            continue
        if path in hashes:
            done.add(name)
            yield hashes[path]
        elif path + "/__init__.py" in hashes:
            done.add(name)
            yield hashes[path + "/__init__.py"]
            yield from walk(hashes, path)


def triton_key(version, hashes):
    """What triton_key() of this release answers where these files are installed."""
    found = []
    for path, is_folder in PARTS:
        if not is_folder and path not in hashes:
            raise Unknown(f"triton {version}: RECORD has no '{path}'")
        found += list(walk(hashes, path)) if is_folder else [hashes[path]]
    return version + "-".join(found)


def check(version, wanted):
    if wanted not in KNOWN:
        raise Unknown(f"triton {wanted}: not one of the releases that debkit knows "
                      f"({' '.join(KNOWN)})")
    if version != wanted:
        raise Unknown(f"triton {wanted}: '{version}' is installed")
