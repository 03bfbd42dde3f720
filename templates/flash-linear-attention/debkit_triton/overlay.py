"""Between Triton and its cache: looks in the stores first.

Four places of Triton are used, all in this process alone: the class of cache managers
(knobs.cache.manager_class), the hook for C stubs (knobs.build.impl), two names in triton.compiler:
Path, so that a kernel need not be a file of its own, and ASTSource.hash, so that a constant that a
kernel's code never reads does not ask for another kernel, and Autotuner.do_bench, so that FLA's
kernels are tuned in less time.
"""
import base64
import functools
import hashlib
import json
import os
import platform
import sys
import sysconfig
import tempfile
import threading
from glob import glob
from pathlib import Path

from . import report
from .store import Damaged, Store

_stores = []
_handed = {}  # SHA-256 of a C stub that was found by its source -> its path
_last = threading.local()  # the kernel whose key was computed last, for the reason of a miss


def folders():
    """Where packages put their stores: .../FLAVOUR/triton-VERSION."""
    named = os.environ.get("DEBKIT_TRITON_PATH")
    if named:
        return [path for path in named.split(":") if path]
    return sorted(glob(f"/usr/lib/{platform.machine()}-linux-gnu/debkit/flash-linear-attention/*"))


def open_stores(version):
    """The stores of this Triton release; a warning where there are only others."""
    found = {path: os.path.basename(path)[len("triton-"):]
             for folder in folders() for path in sorted(glob(os.path.join(folder, "triton-*")))}
    stores = []
    for path, release in found.items():
        if release != version:
            continue
        try:
            stores.append(Store(path))
        except (Damaged, OSError, KeyError, ValueError) as error:
            report.warn_once(f"damaged {path}", f"'{path}/manifest' is damaged ({error}); kernels "
                             "are compiled as usual. Install the package again.")
    if found and version not in found.values():
        report.warn_once("version", "the prebuilt kernels are for Triton "
                         f"{', '.join(sorted(set(found.values())))}, and this is Triton {version}: "
                         "kernels are compiled as usual")
    python = ".".join(map(str, sys.version_info[:2]))
    usable = [store for store in stores if python in store.pythons]
    if stores and not usable:
        others = ", ".join(stores[0].pythons)
        report.warn_once("python", f"the prebuilt kernels are for Python {others}, and this is "
                         f"Python {python}: kernels are compiled as usual")
    return usable


class Stored:
    """A file of the store that Triton reads as it reads a pathlib.Path."""

    def __init__(self, name, data):
        self.name, self.data = name, data
        self.suffix = os.path.splitext(name)[1]

    def read_bytes(self):
        return self.data

    def read_text(self):
        return self.data.decode()

    def __str__(self):
        return f"(debkit)/{self.name}"

    def endswith(self, text):
        return self.name.endswith(text)

    def __fspath__(self):
        """For whoever wants a file after all: one in the temporary folder."""
        path = os.path.join(scratch(), hashlib.sha256(self.data).hexdigest()[:32] + self.suffix)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(self.data)
        return path


_scratch = None


def scratch():
    """A folder of this process, removed at its end."""
    global _scratch
    if _scratch is None or _scratch[0] != os.getpid():
        _scratch = os.getpid(), tempfile.TemporaryDirectory(prefix="debkit-triton.")
    return _scratch[1].name


def path_or_stored(value, *more):
    return value if isinstance(value, Stored) else Path(value, *more)


def find_kernel(key):
    for store in _stores:
        kernel = store.find(key)
        if kernel:
            return kernel
    return None


def decode(key):
    """Triton's name of a cache folder -> the bytes of the hash."""
    return base64.b32decode(key + "=" * (-len(key) % 8))


def make_manager(base, knobs):
    class OverlayCacheManager(base):
        """Reads from the stores, then from the user's cache; writes to the user's cache, and where
        that cannot be written to a folder that ends with the process."""

        def __init__(self, key, override=False, dump=False):
            self.kernel = self.raw = None
            if override or dump:
                super().__init__(key, override=override, dump=dump)
                return
            self.key = key
            self.raw = decode(key)
            self.cache_dir = os.path.join(knobs.cache.dir, key)
            self.lock_path = os.path.join(self.cache_dir, "lock")

        def get_file(self, filename):
            if self.raw and not filename.endswith(".json"):
                for store in _stores:
                    path = store.stubs_by_key.get((self.raw.hex(), filename))
                    path = path and store.stub(path)
                    if path:
                        report.count("stubs", os.path.basename(path))
                        return path
            return super().get_file(filename)

        def get_group(self, filename):
            kernel = find_kernel(self.raw) if self.raw else None
            if kernel and filename == f"{kernel.name[:150]}.json":
                report.count("hits", describe(kernel.name))
                stem = filename[:-len(".json")]
                text = json.dumps(kernel.meta).encode()
                return {filename: Stored(filename, text),
                        f"{stem}.cubin": Stored(f"{stem}.cubin", kernel.cubin)}
            group = super().get_group(filename)
            if group is None and self.raw:
                report.count("misses", f"{describe(filename[:-len('.json')])}: {reason(filename)}")
            return group

        def put(self, data, filename, binary=True):
            handed = filename.endswith(".so") and _handed.get(hashlib.sha256(data).hexdigest())
            if handed:
                return handed
            try:
                os.makedirs(self.cache_dir, exist_ok=True)
                return super().put(data, filename, binary=binary)
            except OSError:
                self.cache_dir = os.path.join(scratch(), self.key)
                os.makedirs(self.cache_dir, exist_ok=True)
                return super().put(data, filename, binary=binary)
    return OverlayCacheManager


def current_arch():
    from triton.runtime.driver import driver
    return driver.active.get_current_target().arch


def describe(name):
    """The kernel and the constants that its key was computed with."""
    source = getattr(_last, "source", None)
    if source is None or source.name != name:
        return name
    values = (f"{source.fn.arg_names[path[0]]}={value}"
              for path, value in sorted(source.constants.items()) if len(path) == 1)
    return f"{name} {' '.join(values)}"


def reason(filename):
    """Why the stores do not hold the kernel that was asked for last."""
    source = getattr(_last, "source", None)
    try:
        arch = current_arch()
    except Exception:
        return "the GPU is unknown"
    if not any(arch in store.archs for store in _stores):
        archs = sorted({arch for store in _stores for arch in store.archs})
        return f"there are no kernels for sm_{arch}, but for {' '.join(f'sm_{a}' for a in archs)}"
    if source is None:
        return "it is not a kernel that was written in Triton"
    known = [store.functions(arch).get(source.name) for store in _stores]
    known = [function for function in known if function]
    if not known:
        return "it is not a kernel of the package"
    if all(function["source"] != source.fn.cache_key for function in known):
        return "its source is not that of the packaged flash-linear-attention"
    return "no profile has these constants and types, or a setting of Triton differs"


def make_hash(original):
    def source_hash(self):
        """Triton's hash, with the constants that the code never reads as the build had them."""
        _last.source = self
        free = free_constants(self)
        if not free:
            return original(self)
        kept = self.constants
        self.constants = {path: free.get(path, value) for path, value in kept.items()}
        try:
            return original(self)
        finally:
            self.constants = kept
    return source_hash


def free_constants(source):
    try:
        arch = current_arch()
        for store in _stores:
            function = store.functions(arch).get(source.name)
            if function and function["free"] and function["source"] == source.fn.cache_key:
                return {(source.fn.arg_names.index(name),): value
                        for name, value in function["free"].items()}
    except Exception as error:
        report.debug(f"{source.name}: {error}")
    return None


def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def make_build(knobs):
    def build(name, source_path, folder, library_dirs, include_dirs, libraries):
        """A C stub whose cache key was not found, by the text of its source; else the compiler.
        From Triton 3.8 on no key is found, as folders of the machine enter it. Triton puts what
        this returns into its cache and loads it from there; put() answers with the store's own
        file, since the cache may be neither writable nor executable."""
        digest = file_digest(source_path)
        for store in _stores:
            path = store.stubs_by_source.get(digest)
            path = path and store.stub(path)
            if path:
                report.count("stubs", f"{os.path.basename(path)} by its source")
                _handed[file_digest(path)] = path
                return path
        report.count("stub_misses", f"{name}: its C source is not that of a packaged kernel")
        from triton.runtime.build import _build
        knobs.build.impl = None
        try:
            return _build(name, source_path, folder, library_dirs, include_dirs, libraries, [])
        finally:
            knobs.build.impl = build
    return build


# Milliseconds for which a configuration runs before it is measured, and is measured. Triton's own
# are 25 and 100, which is little beside a compile, but most of the first call without one.
WARMUP, REPEAT = 10, 40


def make_do_bench(original):
    """Autotuner.do_bench: for kernels of FLA that name no measure of their own, a shorter one."""
    def do_bench(self):
        measure = original.func(self)
        if self._do_bench is None and self.base_fn.__module__.partition(".")[0] == "fla":
            return functools.partial(measure, warmup=WARMUP, rep=REPEAT)
        return measure
    return functools.cached_property(do_bench)


def enable():
    import triton
    _stores[:] = open_stores(triton.__version__)
    if not _stores:
        report.debug(f"no store for Triton {triton.__version__} in {folders()}")
        return False
    from triton import knobs
    from triton.compiler import compiler
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.cache import FileCacheManager
    do_bench = vars(Autotuner).get("do_bench")
    if (compiler.Path is not Path or not hasattr(compiler.ASTSource, "hash")
            or not isinstance(do_bench, functools.cached_property)):
        report.warn_once("layout", f"Triton {triton.__version__} is not the one that the kernels "
                         "were made with: kernels are compiled as usual")
        return False
    if knobs.cache.manager_class is not None:
        report.debug("another cache manager is set: left alone")
        return False
    compiler.Path = path_or_stored
    compiler.ASTSource.hash = make_hash(compiler.ASTSource.hash)
    Autotuner.do_bench = make_do_bench(do_bench)
    Autotuner.do_bench.__set_name__(Autotuner, "do_bench")
    knobs.cache.manager_class = make_manager(FileCacheManager, knobs)
    if knobs.build.impl is None:
        knobs.build.impl = make_build(knobs)
    report.debug(f"{len(_stores)} stores: {' '.join(store.folder for store in _stores)}; "
                 f"{sysconfig.get_config_var('EXT_SUFFIX')}")
    return True
