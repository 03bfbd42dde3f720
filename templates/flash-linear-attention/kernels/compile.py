#!/usr/bin/env python3
"""Compiles the kernels of one profile for one GPU arch, with no GPU.

compile.py --site DIR --triton VERSION --arch NN --profiles FILE --profile NAME --work DIR --out OUT

DIR of --site holds torch, triton, fla and what they import. OUT is a tar: index.json and each cubin
once, named by its SHA-256. The work folder is Triton's own cache: what was compiled in an earlier
run is taken from it.
"""
import argparse
import ast
import fcntl
import hashlib
import inspect
import io
import json
import os
import subprocess
import sys
import tarfile
import textwrap
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
CLEAN = ("TRITON_", "FLA_", "CC", "CUDA_", "LLVM_", "NVPTX_", "DISABLE_", "USE_IR", "MLIR_",
         "PTXAS", "PYTHON", "TORCH")


def fail(text):
    sys.exit(f"compile.py: error: {text}")


def prepare(args):
    """The process as the kernels' keys need it: no setting from outside, SITE first."""
    for name in [name for name in os.environ if name.startswith(CLEAN)]:
        del os.environ[name]
    # Triton writes absolute paths into its cache; a link that a build made goes with the build.
    os.environ["TRITON_CACHE_DIR"] = os.path.realpath(args.work)
    os.environ["FLA_CACHE_RESULTS"] = "0"  # a remembered choice would leave the other kernels out
    os.makedirs(args.work, exist_ok=True)
    sys.path[:] = [HERE, os.path.abspath(args.site)] + [
        path for path in sys.path if path != HERE and not path.endswith("-packages")]
    with open(os.path.join(args.site, ".standins.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([sys.executable, os.path.join(HERE, "standins.py"), "--torch",
                        os.path.join(args.site, "torch")], check=True, stdout=subprocess.DEVNULL)


def unused_constants(function):
    """The names of the kernel's compile-time arguments that its body never mentions."""
    source = textwrap.dedent(inspect.getsource(function.fn))
    tree = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    body = {node.id for part in tree.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    return [param.name for param in function.params
            if param.is_constexpr and param.name not in body]


class Hashing:
    """Stands for hashlib in Triton's compile(): remembers what the last cache key was made of."""

    def __init__(self, start):
        self.start = start.encode()
        self.tail = None

    def __getattr__(self, name):
        return getattr(hashlib, name)

    def sha256(self, data=b"", **options):
        if data.startswith(self.start):
            self.tail = data[len(self.start):].decode()
        return hashlib.sha256(data, **options)


class Collector:
    """Every kernel that Triton compiles or finds in the work folder, in order."""

    def __init__(self, hashing):
        self.hashing = hashing
        self.group = None
        self.kernels = {}
        self.stubs = {}
        self.functions = {}
        self.compiled = 0

    def listen(self, *, src, metadata, metadata_group, times, cache_hit):
        tail = self.hashing.tail
        if hashlib.sha256(self.hashing.start + tail.encode()).hexdigest() != metadata["hash"]:
            raise RuntimeError(f"the cache key of '{src.name}' is not what was hashed")
        self.compiled += not cache_hit
        paths = {os.path.splitext(name)[1]: path for name, path in metadata_group.items()}
        with open(paths[".cubin"], "rb") as file:
            cubin = file.read()
        with open(paths[".json"]) as file:
            meta = json.load(file)
        meta["hash"] = ""
        meta["extern_libs"] = [[name, os.path.basename(path)]
                               for name, path in meta["extern_libs"]]
        constants = {src.fn.arg_names[path[0]]: value for path, value in src.constants.items()}
        free = {name: constants[name] for name in unused_constants(src.fn) if name in constants}
        self.functions[src.name] = {"source": src.fn.cache_key, "free": free}
        self.kernels.setdefault(tail, {
            "name": src.name, "group": self.group, "meta": meta, "cubin": cubin})

    def launcher(self, src, metadata):
        """Triton's own launcher for this kernel, for the sake of its C source."""
        from triton.backends.nvidia import driver
        driver.CudaLauncher(src, metadata)
        return lambda *args: None

    def module(self, src, name, **options):
        """In place of compile_module_from_src, as Triton has it up to 3.7."""
        self.stubs[hashlib.sha256(src.encode()).hexdigest()] = {"name": name, "source": src}
        return Anything()

    def module_from_file(self, src_path, name, **options):
        """In place of compile_module_from_file, from 3.8 on."""
        with open(src_path) as file:
            return self.module(file.read(), name)


class Anything:
    def __getattr__(self, name):
        return self

    def __call__(self, *args, **options):
        return self


def hook(args):
    """Triton with the GPU that is not there; every kernel goes to the collector."""
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import fakegpu
    import triton
    import versions
    versions.check(triton.__version__, args.triton)
    from triton import knobs
    from triton.backends.nvidia import driver
    from triton.compiler import compiler
    from triton.runtime.cache import triton_key
    record = os.path.join(args.site, f"triton-{args.triton}.dist-info", "RECORD")
    if versions.triton_key(args.triton, versions.read_record(record)) != triton_key():
        raise versions.Unknown(f"triton {args.triton}: its cache key does not follow from RECORD")
    knobs.propagate_env = False
    knobs.compilation.disable_line_info = True
    knobs.compilation.store_binary_only = True
    compiler.hashlib = Hashing(triton_key())
    collector = Collector(compiler.hashlib)
    knobs.compilation.listener = collector.listen
    driver.compile_module_from_src = collector.module
    driver.compile_module_from_file = collector.module_from_file
    driver.library_dirs = lambda: []
    driver.CudaUtils()
    tune_always()
    fakegpu.install(args.arch, collector.launcher)
    fakegpu.answer_fla(args.arch)
    return collector


def tune_always():
    """An autotuned kernel forgets its choice: each set of optional arguments needs every
    configuration, and the user's GPU may choose any."""
    from triton.runtime.autotuner import Autotuner
    original = Autotuner.run

    def run(self, *args, **options):
        self.cache.clear()
        return original(self, *args, **options)
    Autotuner.run = run


def run_parts(profile, collector, verbose):
    """Runs each part; returns what FLA refused, by part. A refused part leaves no kernel."""
    import drive
    refused = {}
    for name, group, call in drive.parts(profile):
        if name in refused:
            continue
        before = set(collector.kernels)
        collector.group = group
        try:
            call()
        except (RuntimeError, ValueError, NotImplementedError, AssertionError) as error:
            refused[name] = " ".join(str(error).split()) or type(error).__name__
            for tail in set(collector.kernels) - before:
                del collector.kernels[tail]
        if verbose:
            print(f"{name}: {len(collector.kernels) - len(before)} kernels", flush=True)
    return refused


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def write(path, collector, head):
    """The tar, in one order, without times or owners."""
    cubins, kernels = {}, []
    for tail, kernel in sorted(collector.kernels.items()):
        cubin = kernel.pop("cubin")
        digest = hashlib.sha256(cubin).hexdigest()
        cubins[digest] = cubin
        kernels.append({**kernel, "tail": tail, "cubin": digest})
    index = {**head, "kernels": kernels, "stubs": collector.stubs, "functions": collector.functions}
    with tarfile.open(path + ".tmp", "w", format=tarfile.USTAR_FORMAT) as tar:
        add(tar, "index.json", json.dumps(index, sort_keys=True, indent=0).encode())
        for digest, cubin in sorted(cubins.items()):
            add(tar, f"cubins/{digest}", cubin)
    os.replace(path + ".tmp", path)


def main():
    parse = argparse.ArgumentParser()
    for name in ("site", "triton", "profiles", "profile", "work", "out"):
        parse.add_argument("--" + name, required=True)
    parse.add_argument("--arch", required=True, type=int)
    parse.add_argument("--verbose", action="store_true")
    args = parse.parse_args()
    prepare(args)
    import fakegpu
    import shapes
    import versions
    if args.arch not in fakegpu.GPUS:
        fail(f"arch {args.arch}: known are {' '.join(map(str, fakegpu.GPUS))}")
    try:
        profile = shapes.load(args.profiles, args.profile)
        collector = hook(args)
    except (ValueError, OSError, versions.Unknown) as error:
        fail(error)
    except (AttributeError, ImportError) as error:
        fail(f"triton {args.triton}: it is not laid out as debkit or FLA know: {error}")
    refused = run_parts(profile, collector, args.verbose)
    for part, text in refused.items():
        print(f"compile.py: profile '{args.profile}', sm_{args.arch}: {part} refused: {text}",
              file=sys.stderr)
    write(args.out, collector, {"triton": args.triton, "arch": args.arch, "profile": args.profile,
                                "refused": refused})
    if args.verbose:
        print(f"{len(collector.kernels)} kernels, {collector.compiled} compiled now")


if __name__ == "__main__":
    main()
