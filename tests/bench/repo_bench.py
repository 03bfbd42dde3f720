#!/usr/bin/env python3
"""repo_bench.py DEBKIT [N...]: see repo.sh, which checks what is needed and calls this."""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEBKIT = os.path.abspath(sys.argv[1])
SIZES = [int(n) for n in sys.argv[2:]] or [1000, 10000, 50000]
RUNS = int(os.environ.get("RUNS", "3"))
PEERS = os.environ.get("PEERS", "reprepro aptly apt-ftparchive").split()
OPERATIONS = ["first", "one more", "same again", "one removed"]
BASE = os.environ.get("BENCH_DIR") or tempfile.mkdtemp(prefix="debkit-bench.")
# apt asks for the first of these that Release names.
APT_ORDER = [".xz", ".bz2", ".lzma", ".gz", ".lz4", ".zst"]


class Figures:
    """What one command cost: seconds, of them waiting for the disk, CPU seconds, memory, bytes
    written."""

    NAMES = ("seconds", "disk", "cpu", "memory", "written")

    def __init__(self, *values):
        self.seconds, self.disk, self.cpu, self.memory, self.written = values

    def plus(self, other):
        return Figures(self.seconds + other.seconds, self.disk + other.disk, self.cpu + other.cpu,
                       max(self.memory, other.memory), self.written + other.written)


def run(args, **more):
    with tempfile.TemporaryFile() as said:
        start = time.monotonic()
        p = subprocess.Popen(args, stdout=said, stderr=subprocess.STDOUT, **more)
        _, status, usage = os.wait4(p.pid, 0)
        seconds = time.monotonic() - start
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if p.returncode:
        sys.exit(f"{args}: status {p.returncode}\n{text[-2000:]}")
    waited = re.search(r"waited for the disk \d+ times, ([0-9.]+) s", text)
    return Figures(seconds, float(waited[1]) if waited else 0.0, usage.ru_utime + usage.ru_stime,
                   usage.ru_maxrss * 1024, usage.ru_oublock * 512)


def shell(command, *args):
    return run(["bash", "-c", command, "bash", *args])


class Debkit:
    options = []

    def __init__(self, root, key):
        self.root = root
        self.publish = [DEBKIT, "publish", "-v", "--repo", root, "--suite", "stable", "--unsigned-ok",
                        "--sign-key", key, *self.options]

    def first(self, debs, files):
        return run([*self.publish, debs])

    def more(self, deb):
        return run([*self.publish, deb])

    same = more

    def remove(self, package, deb):
        return run([DEBKIT, "remove", "-v", "--repo", self.root, "--suite", "stable", package])

    def index(self):
        return os.path.join(self.root, "dists/stable/main/binary-amd64")


class DebkitZst(Debkit):
    options = ["--no-gz"]


class DebkitLink(Debkit):
    options = ["--link"]


class Reprepro:
    def __init__(self, root, key):
        self.root = root
        os.makedirs(root + "/conf")
        with open(root + "/conf/distributions", "w") as f:
            f.write("Codename: stable\nSuite: stable\nArchitectures: amd64\nComponents: main\n"
                    f"SignWith: {key}\n")

    def first(self, debs, files):
        return shell('find "$1" -name "*.deb" -print0 | xargs -0 -n 20000 reprepro --silent -b "$2" '
                     'includedeb stable', debs, self.root)

    def more(self, deb):
        return run(["reprepro", "--silent", "-b", self.root, "includedeb", "stable", deb])

    same = more

    def remove(self, package, deb):
        return run(["reprepro", "--silent", "-b", self.root, "remove", "stable", package])

    def index(self):
        return os.path.join(self.root, "dists/stable/main/binary-amd64")


class Aptly:
    """Without Contents, its fastest way."""

    def __init__(self, root, key):
        self.root, self.key = root, key
        os.makedirs(root)
        with open(root + "/aptly.conf", "w") as f:
            f.write('{"rootDir": "%s/root", "architectures": ["amd64"], "gpgProvider": "gpg"}' % root)
        self.aptly("repo", "create", "-distribution=stable", "-component=main", "r")

    def aptly(self, *args):
        return run(["aptly", f"-config={self.root}/aptly.conf", *args])

    def update(self):
        return self.aptly("publish", "update", "-batch", "-skip-contents", f"-gpg-key={self.key}", "stable")

    def first(self, debs, files):
        return self.aptly("repo", "add", "r", debs).plus(
            self.aptly("publish", "repo", "-batch", "-skip-contents", f"-gpg-key={self.key}", "r"))

    def more(self, deb):
        return self.aptly("repo", "add", "r", deb).plus(self.update())

    same = more

    def remove(self, package, deb):
        return self.aptly("repo", "remove", "r", package).plus(self.update())

    def index(self):
        return os.path.join(self.root, "root/public/dists/stable/main/binary-amd64")


class Ftparchive:
    """Links of the debs are in its pool before the clock starts."""

    def __init__(self, root, key):
        self.root = root
        os.makedirs(root + "/repo/pool/main")
        os.makedirs(root + "/repo/dists/stable/main/binary-amd64")
        os.makedirs(root + "/cache")
        with open(root + "/gen.conf", "w") as f:
            f.write(f'''Dir {{ ArchiveDir "{root}/repo"; CacheDir "{root}/cache"; }};
Default {{ Packages::Compress ". gzip xz"; }};
TreeDefault {{ BinCacheDB "packages-$(SECTION)-$(ARCH).db"; Directory "pool/$(SECTION)";
  Packages "$(DIST)/$(SECTION)/binary-$(ARCH)/Packages"; Contents ""; }};
Tree "dists/stable" {{ Sections "main"; Architectures "amd64"; }};
''')
        with open(root + "/rel.conf", "w") as f:
            f.write('APT::FTPArchive::Release { Suite "stable"; Codename "stable"; Architectures "amd64"; '
                    'Components "main"; };\n')
        self.make = f'''cd "{root}" && apt-ftparchive generate gen.conf &&
            apt-ftparchive -c rel.conf release repo/dists/stable >rel.tmp && cd repo/dists/stable &&
            mv ../../../rel.tmp Release && gpg --batch --yes -u {key} --clearsign -o InRelease Release &&
            gpg --batch --yes -u {key} -abs -o Release.gpg Release'''

    def first(self, debs, files):
        subprocess.run(["cp", "-al", debs + "/.", self.root + "/repo/pool/main/"], check=True)
        return shell(self.make)

    def more(self, deb):
        os.link(deb, os.path.join(self.root, "repo/pool/main", os.path.basename(deb)))
        return shell(self.make)

    def same(self, deb):
        return shell(self.make)

    def remove(self, package, deb):
        os.unlink(os.path.join(self.root, "repo/pool/main", os.path.basename(deb)))
        return shell(self.make)

    def index(self):
        return os.path.join(self.root, "repo/dists/stable/main/binary-amd64")


TOOLS = {"debkit": Debkit, "debkit --no-gz": DebkitZst, "debkit --link": DebkitLink, "reprepro": Reprepro, "aptly": Aptly,
         "apt-ftparchive": Ftparchive}


def index_sizes(folder):
    """The smallest file, and the one that apt takes by default."""
    sizes = {os.path.splitext(f)[1]: os.path.getsize(f) for f in glob.glob(folder + "/Packages.*")}
    return min(sizes.values()), next(sizes[s] for s in APT_ORDER if s in sizes)


def make_debs(n):
    folder = os.path.join(BASE, f"debs-{n}")
    if not os.path.isdir(folder):
        subprocess.run([sys.executable, HERE + "/gen_debs.py", folder + ".tmp", str(n)], check=True)
        os.rename(folder + ".tmp", folder)
    return folder


def disk_probe():
    """The disk's own time for one small durable file: the floor of every durable publish."""
    times = []
    for i in range(20):
        with open(os.path.join(BASE, "probe"), "wb") as f:
            f.write(b"x" * 4096)
            f.flush()
            start = time.monotonic()
            os.fsync(f.fileno())
            times.append(time.monotonic() - start)
    return statistics.median(times)


def measure(name, n, key, run_number):
    """Figures of each operation, and the sizes of the index after the first."""
    debs, extra = make_debs(n), make_extra()
    root = os.path.join(BASE, f"run-{name.replace(' ', '')}-{n}-{run_number}-{os.getpid()}")
    tool = TOOLS[name](root, key)
    figures = [tool.first(debs, n)]
    sizes = index_sizes(tool.index())
    deb = extra[run_number % len(extra)]
    package = os.path.basename(deb).split("_")[0]
    middle = sorted(os.listdir(debs))[n // 2]
    figures += [tool.more(deb), tool.same(deb),
                tool.remove(middle.split("_")[0], middle) if name != "apt-ftparchive"
                else tool.remove(package, deb)]
    return figures, sizes, root


def make_extra():
    folder = os.path.join(BASE, "debs-extra")
    if not os.path.isdir(folder):
        subprocess.run([sys.executable, HERE + "/gen_debs.py", folder, "8", "--first", "900000"], check=True)
    return sorted(glob.glob(folder + "/*.deb"))


def make_key():
    home = os.path.join(BASE, "gnupg")
    os.environ["GNUPGHOME"] = home
    if not os.path.isdir(home):
        os.mkdir(home, 0o700)
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key",
                        "bench <bench@debkit.invalid>", "ed25519", "sign", "never"], check=True,
                       stderr=subprocess.DEVNULL)
    out = subprocess.run(["gpg", "--with-colons", "--list-keys"], check=True, capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    return next(line.split(":")[9] for line in out.stdout.splitlines() if line.startswith("fpr"))


def median(values):
    return statistics.median(values)


def bench(n, key, table):
    names = [t for t in TOOLS if t.startswith("debkit") or t in PEERS]
    results = {name: [] for name in names}
    roots = []
    for r in range(RUNS):
        for name in names:
            figures, sizes, root = measure(name, n, key, r)
            results[name].append((figures, sizes))
            roots.append(root)
            print(f"{n} {name} run {r + 1}: " + ", ".join(
                f"{op} {f.seconds:.3f} s" for op, f in zip(OPERATIONS, figures)), file=sys.stderr, flush=True)
    # Not before: the file system is slow at making files for some seconds after many went.
    for root in roots:
        shutil.rmtree(root)
    for name in names:
        for i, op in enumerate(OPERATIONS):
            runs = [figures[i] for figures, _ in results[name]]
            table[n, name, op] = Figures(*(median([getattr(f, k) for f in runs]) for k in Figures.NAMES))
        table[n, name, "index"] = results[name][0][1]


def print_table(table):
    print("| packages | program | operation | seconds | of them waiting for the disk | CPU seconds | "
          "memory, MB | written, MB | index: smallest form, kB | index: what apt takes, kB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for (n, name, op), f in table.items():
        if op == "index":
            continue
        small, taken = table[n, name, "index"]
        sizes = f"{small / 1000:.0f} | {taken / 1000:.0f}" if op == "first" else "|"
        disk = f"{f.disk:.3f}" if name.startswith("debkit") else "not shown"
        print(f"| {n} | {name} | {op} | {f.seconds:.3f} | {disk} | {f.cpu:.2f} | {f.memory / 1e6:.0f} | "
              f"{f.written / 1e6:.1f} | {sizes} |")


def summary(table):
    parts = []
    for n in SIZES:
        peers = [p for p in PEERS if (n, p, "first") in table]
        first, more = table[n, "debkit", "first"], table[n, "debkit", "one more"]
        text = (f"{n}: first {first.seconds:.2f} s, one more {more.seconds:.3f} s ({more.disk:.3f} disk), "
                f"same {table[n, 'debkit', 'same again'].seconds:.3f} s, "
                f"{more.memory / 1e6:.0f} MB")
        if peers:
            fastest = min(peers, key=lambda p: table[n, p, "first"].seconds)
            quickest = min(peers, key=lambda p: table[n, p, "one more"].seconds)
            small = min(table[n, p, "index"][0] for p in peers)
            text += (f"; {table[n, fastest, 'first'].seconds / first.seconds:.1f} times {fastest}, one more "
                     f"{table[n, quickest, 'one more'].seconds / more.seconds:.1f} times {quickest}, index "
                     f"{table[n, 'debkit', 'index'][0] / small:.2f} of the smallest")
        parts.append(text)
    return "bench-repo: " + " | ".join(parts)


def main():
    os.makedirs(BASE, exist_ok=True)
    key = make_key()
    table = {}
    try:
        print(f"one fsync of 4 kB on this disk: {disk_probe() * 1000:.1f} ms; medians of {RUNS}")
        for n in SIZES:
            bench(n, key, table)
        print_table(table)
        print(summary(table))
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=False)
        if not os.environ.get("BENCH_DIR"):
            shutil.rmtree(BASE)


main()
