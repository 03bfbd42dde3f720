"""One store: the kernels of one Triton release, read-only and checked by SHA-256 when read.

    manifest            deb822: the Pythons, archs and profiles, and the SHA-256 of each file
    sm_NN.index         xz, JSON: where each cubin lies in the pack, and its metadata
    sm_NN.pack          xz blocks, each of cubins that are used together
    sm_NN.cpMM.keys     sorted records: 12 bytes of the cache key, 4 of the entry's number
    stubs/              launchers and the driver helper, one for each C source and Python
"""
import bisect
import hashlib
import json
import lzma
import os
import sys
import threading

from . import report

FORMAT = "1"
KEY, RECORD = 12, 16
KEPT_BLOCKS = 6


class Damaged(Exception):
    pass


def read_manifest(path):
    """Field -> value of the one stanza; the lines of a folded field stay lines."""
    fields, last = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line[0] == " ":
                fields[last] = (fields[last] + "\n" + line.strip()).strip()
            else:
                last, _, value = line.partition(":")
                fields[last] = value.strip()
    return fields


class Keys:
    """A table of sorted records, searched in place."""

    def __init__(self, data):
        if len(data) % RECORD:
            raise Damaged("the length of a key table")
        self.data = data

    def __len__(self):
        return len(self.data) // RECORD

    def __getitem__(self, number):
        return self.data[number * RECORD:number * RECORD + KEY]

    def find(self, key):
        place = bisect.bisect_left(self, key[:KEY])
        if place == len(self) or self[place] != key[:KEY]:
            return None
        return int.from_bytes(self.data[place * RECORD + KEY:(place + 1) * RECORD], "big")


class Kernel:
    """Metadata and cubin of one entry, as the two files that Triton's cache would hold."""

    def __init__(self, name, meta, cubin):
        self.name, self.meta, self.cubin = name, meta, cubin


class Store:
    def __init__(self, folder):
        self.folder = folder
        self.tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        self.lock = threading.Lock()
        self.damaged = set()
        self.keys, self.indexes, self.blocks = {}, {}, {}
        fields = read_manifest(os.path.join(folder, "manifest"))
        if fields.get("Format") != FORMAT:
            raise Damaged(f"format {fields.get('Format')}")
        self.pythons = fields["Python"].split()
        self.archs = [int(arch.replace(".", "")) for arch in fields["Archs"].split()]
        self.sums = {path: digest for digest, path in
                     (line.split(" ", 1) for line in fields["Files"].splitlines())}
        self.starts = dict(line.split() for line in fields["Triton-Keys"].splitlines())
        self.stubs_by_key, self.stubs_by_source = {}, {}
        for line in fields.get("Stubs", "").splitlines():
            tag, name, source, *keys, path = line.split()
            if tag == self.tag:
                self.stubs_by_source[source] = path
                self.stubs_by_key.update({(key, name): path for key in keys})

    def read(self, name):
        """The bytes of one file, or Damaged."""
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                data = file.read()
        except OSError as error:
            raise Damaged(f"'{name}': {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != self.sums.get(name):
            raise Damaged(f"'{name}'")
        return data

    def once(self, cache, arch, load):
        """cache[arch], loaded at first use; None for ever once it was found damaged."""
        if arch not in cache:
            cache[arch] = None
            try:
                cache[arch] = load()
            except (Damaged, ValueError, lzma.LZMAError) as error:
                self.complain(error)
        return cache[arch]

    def complain(self, error):
        report.warn_once(f"damaged {self.folder}", f"the kernels in '{self.folder}' are damaged "
                         f"({error}); they are compiled as usual. Install the package again.")

    def key_table(self, arch):
        return self.once(self.keys, arch, lambda: Keys(self.read(f"sm_{arch}.{self.tag}.keys")))

    def index(self, arch):
        return self.once(self.indexes, arch,
                         lambda: json.loads(lzma.decompress(self.read(f"sm_{arch}.index"))))

    def block(self, arch, number):
        """One block of the pack, unpacked; the last few are kept."""
        if (arch, number) in self.blocks:
            return self.blocks[arch, number]
        offset, size, digest = self.index(arch)["blocks"][number]
        with open(os.path.join(self.folder, f"sm_{arch}.pack"), "rb") as file:
            data = os.pread(file.fileno(), size, offset)
        if hashlib.sha256(data).hexdigest() != digest:
            raise Damaged(f"'sm_{arch}.pack'")
        while len(self.blocks) >= KEPT_BLOCKS:
            self.blocks.pop(next(iter(self.blocks)))
        self.blocks[arch, number] = data = lzma.decompress(data)
        return data

    def find(self, key):
        """The Kernel of a cache key (bytes), or None."""
        with self.lock:
            for arch in self.archs:
                table = self.key_table(arch)
                number = table.find(key) if table else None
                if number is not None:
                    return self.kernel(arch, number)
        return None

    def kernel(self, arch, number):
        index = self.index(arch)
        if not index or (arch, number) in self.damaged:
            return None
        block, offset, length, name, meta = index["entries"][number]
        try:
            cubin = self.block(arch, block)[offset:offset + length]
        except (Damaged, OSError, lzma.LZMAError) as error:
            self.damaged.add((arch, number))
            self.complain(error)
            return None
        return Kernel(name, {**index["common"], **index["metas"][meta]}, cubin)

    def stub(self, path):
        """The path of a shared object that was checked, or None."""
        try:
            self.read(path)
        except Damaged as error:
            self.complain(error)
            return None
        return os.path.join(self.folder, path)

    def functions(self, arch):
        """Kernel name -> {source: its hash, free: constants that its code never reads}."""
        with self.lock:
            index = self.index(arch) if arch in self.archs else None
        return index["functions"] if index else {}
