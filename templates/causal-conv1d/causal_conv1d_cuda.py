"""Selects the compiled causal_conv1d_cuda that fits the installed torch.

Each python3-causal-conv1d-cuXYZ package brings bindings, and a deb822 table of them:

    File: torch2.10-cp311.so
    Python: cp311
    Torch: 2.10 2.11 2.12
    Cuda: 12.8

torch is found and its version read without importing it. Then torch is imported, which loads
the libraries that a binding needs, and the binding takes this module's place in sys.modules.
Where none fits, ImportError says in one sentence what is installed, what the packages support
and what to type.
"""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location

NAME = "causal_conv1d_cuda"
RECIPE = "causal-conv1d"
PACKAGE = "python3-causal-conv1d-"
CUDAS = ("12.6", "12.8", "13.0", "13.2")  # those that debkit makes a package for
DEFAULT_CUDA = "12.8"
WHEELS = "https://download.pytorch.org/whl/"


def running_python():
    """The ABI tag (cp311, cp313t) and the multiarch triplet, from the tag of extensions."""
    kind, _, rest = EXTENSION_SUFFIXES[0].strip(".").partition("-")
    abi, _, triplet = rest.partition("-")
    tag = "cp" + abi.rstrip("d") if kind == "cpython" else kind
    return tag, triplet.partition(".")[0]


def read_table(path):
    """The stanzas of a bindings file, fields in lower case; [] if it cannot be read."""
    stanzas, new = [], True
    try:
        with open(path, encoding="utf-8") as f:
            for line in f:
                name, colon, value = line.partition(":")
                if not line.strip():
                    new = True
                elif colon and not line[0].isspace():
                    if new:
                        stanzas.append({})
                        new = False
                    stanzas[-1][name.lower()] = value.strip()
    except (OSError, ValueError):
        return []
    return [s for s in stanzas if all(s.get(k) for k in ("file", "python", "torch", "cuda"))]


def installed_bindings(triplet):
    """Every binding of every flavour beside this file, in the order of the tables."""
    lib = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    root = os.path.join(lib, triplet, "debkit")
    try:
        folders = sorted(n for n in os.listdir(root) if n.startswith(RECIPE + "-"))
    except OSError:
        return []
    found = []
    for folder in folders:
        for s in read_table(os.path.join(root, folder, "bindings")):
            s["path"] = os.path.join(root, folder, s["file"])
            s["torch"] = s["torch"].split()
            found.append(s)
    return found


def text_of(value):
    """The string in a line `name = 'value'` of version.py; None for anything else."""
    value = value.strip()
    if len(value) >= 2 and value[0] in "'\"" and value[-1] == value[0]:
        return value[1:-1]
    return None


def read_version_py(folders):
    """The names that torch/version.py assigns; {} if it cannot be read."""
    for folder in folders:
        try:
            with open(os.path.join(folder, "version.py"), encoding="utf-8") as f:
                pairs = [line.partition("=") for line in f if not line[0].isspace()]
        except (OSError, ValueError):
            continue
        return {name.partition(":")[0].strip(): text_of(value) for name, _, value in pairs}
    return {}


def distribution_version():
    """What pip has on record for torch, or None."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except (PackageNotFoundError, KeyError):
        return None


def installed_torch():
    """version, cuda, and a phrase that names this build; version None if there is no torch."""
    try:
        spec = find_spec("torch")
    except (ImportError, ValueError):
        spec = None
    if not spec or not spec.origin:  # absent, or a folder that only happens to have the name
        version = distribution_version()
        phrase = "torch %s, whose folder is missing," % version if version else "no torch"
        return version, None, phrase
    names = read_version_py(spec.submodule_search_locations or ())
    version = names.get("__version__") or distribution_version() or "of unknown version"
    if names.get("cuda"):
        return version, minor(names["cuda"]), "torch %s (CUDA %s)" % (version, names["cuda"])
    if names.get("hip") or names.get("rocm"):
        return version, None, "torch %s (ROCm)" % version
    if "cuda" in names:
        return version, None, "torch %s (built without CUDA)" % version
    return version, None, "torch %s, whose version.py names no CUDA version," % version


def minor(version):
    """2.10.0+cu128, 2.10.0a0+git1b2c and 2.10.0.dev20260101 are 2.10."""
    return ".".join(version.partition("+")[0].split(".")[:2])


def is_release(version):
    public = version.partition("+")[0].replace(".post", "")
    return public.replace(".", "").isdigit()


def flavour(cuda):
    return "cu" + cuda.replace(".", "")


def number(version):
    """A key that orders 2.9 before 2.10, and 3.13 before 3.13t."""
    return [(int("0" + "".join(filter(str.isdigit, p))), p) for p in version.split(".")]


def listed(words):
    """2.9, 2.10 or 2.11."""
    words = sorted(set(words), key=number)
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def python_of(tag):
    """cp311 is 3.11, cp313t is 3.13t."""
    return tag[2:3] + "." + tag[3:] if tag.startswith("cp3") else tag


def what_is_supported(bindings):
    if not bindings:
        return "no %scuXYZ package is installed" % PACKAGE
    parts = []
    for cuda in sorted({b["cuda"] for b in bindings}, key=number):
        of = [b for b in bindings if b["cuda"] == cuda]
        parts.append("torch %s with CUDA %s on Python %s" % (
            listed(t for b in of for t in b["torch"]), cuda,
            listed(python_of(b["python"]) for b in of)))
    return "the installed packages support " + " and ".join(parts)


def pip_install(torch, cuda, installed):
    """pip takes another build of the same version for the wanted one unless it is forced."""
    force = "--force-reinstall " if installed and minor(installed) == torch else ""
    return 'pip install %s"torch==%s.*" --index-url %s%s' % (force, torch, WHEELS, flavour(cuda))


def what_to_type(version, cuda, tag, bindings):
    if cuda in CUDAS and all(b["cuda"] != cuda for b in bindings):
        return "apt install " + PACKAGE + flavour(cuda)
    if not bindings:
        name = flavour(DEFAULT_CUDA)
        return "apt install %s%s && pip install torch --index-url %s%s" % (
            PACKAGE, name, WHEELS, name)
    # Of the same Python and CUDA if there are any; then the CUDA that asks least of the driver.
    of = [b for b in bindings if b["python"] == tag] or bindings
    cudas = {b["cuda"] for b in of}
    wanted = cuda if cuda in cudas else min(cudas, key=number)
    of = [b for b in of if b["cuda"] == wanted]
    # The first torch of a stanza is the one that the binding was compiled for: it exists.
    best = max(of, key=lambda b: (number(b["torch"][0]), number(python_of(b["python"]))))
    if best["python"] == tag:
        return pip_install(best["torch"][0], wanted, version)
    return "python%s -m venv DIR && DIR/bin/%s && debkit enable --venv DIR" % (
        python_of(best["python"]), pip_install(best["torch"][0], wanted, None))


def refuse(what, why, do):
    return ImportError("%s: %s: %s; type: %s" % (NAME, what, why, do), name=NAME)


def choose():
    """The stanza of the binding that fits, and what is installed in words."""
    tag, triplet = running_python()
    bindings = installed_bindings(triplet)
    version, cuda, phrase = installed_torch()
    phrase += " on Python " + python_of(tag)
    fits = [b for b in bindings
            if (b["python"], b["cuda"]) == (tag, cuda) and minor(version) in b["torch"]]
    own = [b for b in fits if b["torch"][0] == minor(version)]  # compiled for this torch
    for b in own or fits:
        return b, version, phrase
    raise refuse(phrase + " is installed", what_is_supported(bindings),
                 what_to_type(version, cuda, tag, bindings))


def load():
    binding, version, phrase = choose()
    import torch  # noqa: F401  (loads the libraries that the binding needs)

    path = binding["path"]
    spec = spec_from_file_location(NAME, path, loader=ExtensionFileLoader(NAME, path))
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    except (ImportError, OSError) as e:
        raise refuse(phrase, *explain(str(e).split("\n")[0], binding, version)) from None
    sys.modules[NAME] = module
    if not is_release(version):
        from warnings import warn

        warn("%s: torch %s is no release; its binding was checked against the releases of %s" % (
            NAME, version, minor(version)), RuntimeWarning)


def explain(error, binding, version):
    """Why a binding that should fit did not load, and what to type."""
    if error.startswith("libcudart.so"):
        return ("the CUDA runtime %s is missing" % error.partition(":")[0],
                "apt install cuda-cudart-" + binding["cuda"].replace(".", "-"))
    if error.startswith(binding["path"] + ": undefined symbol"):
        return ("this build of torch differs from the releases of %s (%s)" % (
            minor(version), error), pip_install(minor(version), binding["cuda"], version))
    return ("its binding cannot be loaded (%s)" % error,
            "apt install --reinstall " + PACKAGE + flavour(binding["cuda"]))


load()
