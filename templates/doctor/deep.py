"""Says which functions this Python binds for gated delta networks; run by debkit doctor --deep.

Prints deb822 stanzas: one about torch and the extension, then one for each function as a model of
transformers resolves it. Nothing is computed and no weights are loaded.
"""

import importlib
import inspect
import os
import sys

FUNCTIONS = (
    # As transformers calls it in its modules, older name first; and where it should come from.
    (("causal_conv1d_fn",), "causal_conv1d", "causal_conv1d_fn"),
    (("causal_conv1d_update",), "causal_conv1d", "causal_conv1d_update"),
    (("chunk_gated_delta_rule", "torch_chunk_gated_delta_rule"),
     "fla.ops.gated_delta_rule", "chunk_gated_delta_rule"),
    (("fused_recurrent_gated_delta_rule", "torch_recurrent_gated_delta_rule"),
     "fla.ops.gated_delta_rule", "fused_recurrent_gated_delta_rule"),
)
MODELS = (("Qwen3.5", "transformers.models.qwen3_5.modeling_qwen3_5"),
          ("Qwen3-Next", "transformers.models.qwen3_next.modeling_qwen3_next"))
GATES = (("causal_conv1d", "is_causal_conv1d_available"),
         ("fla", "is_flash_linear_attention_available"))


def one_line(value):
    return " ".join(str(value).split()) or "?"


def show(**fields):
    for name, value in fields.items():
        if value is not None:
            out.write("%s: %s\n" % (name.replace("_", "-"), one_line(value)))
    out.write("\n")
    out.flush()


def version_of(name):
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except (PackageNotFoundError, KeyError):
        return None


def load(name):
    """The module, and why it cannot be had."""
    try:
        return importlib.import_module(name), None
    except BaseException as e:  # whatever an import may raise; a broken one must not end this
        if isinstance(e, KeyboardInterrupt):
            raise
        return None, "%s: %s" % (type(e).__name__, one_line(e))


def behind(f):
    """The function that a wrapper of transformers calls in the end."""
    for _ in range(8):
        code = getattr(f, "__code__", None)
        if code is None or "implementation" not in code.co_freevars:
            break
        f = f.__closure__[code.co_freevars.index("implementation")].cell_contents
    return f


def file_of(f):
    try:
        return inspect.getfile(inspect.unwrap(f))
    except (TypeError, ValueError):
        return getattr(sys.modules.get(getattr(f, "__module__", "")), "__file__", None)


def state_of(f, package):
    """fast, hub or fallback, and the file that the function stands in."""
    if f is None:
        return "fallback", None
    module = getattr(f, "__module__", None) or type(f).__module__
    root = module.partition(".")[0]
    if root == "transformers":
        return "fallback", None
    return "fast" if root == package.partition(".")[0] else "hub", file_of(f)


def why_not(torch, package):
    """Why transformers did not take the package."""
    _, error = load(package)
    if error:
        return error
    if not torch.cuda.is_available():
        return "torch.cuda.is_available() is False"
    utils, _ = load("transformers.utils.import_utils")
    for root, gate in GATES:
        if package.startswith(root) and utils and hasattr(utils, gate):
            if not getattr(utils, gate)():
                return "transformers' %s() is False: versions are %s %s" % (
                    gate, root, version_of("fla-core" if root == "fla" else root))
    return "transformers does not use it here"


def show_functions(torch, model, module, error):
    if module is None:
        show(Model=model, State="broken", Why=error)
        return
    for names, package, function in FUNCTIONS:
        name = next((n for n in names if hasattr(module, n)), None)
        if name is None:
            show(Model=model, Function=function, State="unknown",
                 Why="%s has none of its names" % module.__name__)
            continue
        state, path = state_of(behind(getattr(module, name)), package)
        show(Model=model, Function=function, State=state, File=path,
             Why=why_not(torch, package) if state == "fallback" else None)


def show_plain(error):
    """Without transformers: what the packages themselves give."""
    for _, package, function in FUNCTIONS:
        module, why = load(package)
        f = getattr(module, function, None)
        state, path = state_of(f, package)
        show(Model="no transformers", Function=function, State=state if f else "absent",
             File=path, Why=why if f is None else None)


def main():
    torch, error = load("torch")
    if torch is None:
        show(Python=sys.executable, Torch_Error=error)
        return
    cuda = torch.cuda.is_available()
    binding, binding_error = load("causal_conv1d_cuda")
    transformers, transformers_error = load("transformers")
    show(Python=sys.executable, Torch=torch.__version__, Cuda="yes" if cuda else "no",
         Capability="%d.%d" % torch.cuda.get_device_capability() if cuda else None,
         Archs=" ".join(torch.cuda.get_arch_list()) if cuda else None,
         Binding=getattr(binding, "__file__", None), Binding_Error=binding_error,
         Transformers=getattr(transformers, "__version__", None),
         Transformers_Error=transformers_error if version_of("transformers") else None,
         Kernels=version_of("kernels"), Use_Hub_Kernels=os.environ.get("USE_HUB_KERNELS"))
    if transformers is None:
        show_plain(transformers_error)
        return
    for model, name in MODELS:
        module, error = load(name)
        if module is None and "No module named '%s'" % name.rpartition(".")[0] in error:
            continue  # an older transformers, without this model
        show_functions(torch, model, module, error)


# What libraries print must not come between the stanzas.
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
main()
