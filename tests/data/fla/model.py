"""A small random Qwen3.5 text model with the real sizes of its GatedDeltaNet heads, on the GPU.

Runs prefill and decode with a cache. The last line is JSON: the counts of the overlay, what
transformers says is available, and which package each function of the layer comes from.
"""
import inspect
import json
import os
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch
import transformers
from transformers.models.qwen3_5 import modeling_qwen3_5 as modeling
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig
from transformers.utils import import_utils

compiled = []


def listen(*, src, metadata, metadata_group, times, cache_hit):
    if not cache_hit:
        compiled.append(src.name)


def available():
    return {name: getattr(import_utils, name)() for name in
            ("is_flash_linear_attention_available", "is_causal_conv1d_available")
            if hasattr(import_utils, name)}


def origin(function):
    """The package of what a call ends in; newer transformers hide it in a wrapper's closure."""
    if getattr(function, "__closure__", None):
        inner = inspect.getclosurevars(function).nonlocals.get("implementation")
        function = inner or function
    return function.__module__.split(".")[0]


def bound(layer):
    """What a layer calls -> the package it comes from."""
    names = ("chunk_gated_delta_rule", "recurrent_gated_delta_rule", "causal_conv1d_fn",
             "causal_conv1d_update")
    found = {}
    for name in names:
        function = getattr(layer, name, None) or getattr(modeling, name, None) or getattr(
            modeling, f"torch_{name}")
        found[name] = origin(function)
    return found


def main():
    from triton import knobs
    knobs.compilation.listener = listen
    keys, values = map(int, os.environ.get("HEADS", "16/32").split("/"))
    config = Qwen3_5TextConfig(
        vocab_size=128, hidden_size=256, intermediate_size=256, num_hidden_layers=2,
        layer_types=["linear_attention", "full_attention"], num_attention_heads=4,
        num_key_value_heads=2, head_dim=64, linear_num_key_heads=keys,
        linear_num_value_heads=values, linear_key_head_dim=128, linear_value_head_dim=128)
    config._attn_implementation = "eager"
    model = modeling.Qwen3_5ForCausalLM(config).to(torch.bfloat16).cuda().eval()
    functions = bound(model.model.layers[0].linear_attn)
    with torch.no_grad():
        for batch, length in ((1, 77), (2, 64)):
            tokens = torch.zeros(batch, length, dtype=torch.long, device="cuda")
            out = model(tokens, use_cache=True)
            model(tokens[:, :1], past_key_values=out.past_key_values, use_cache=True)
    import debkit_triton
    print(json.dumps({**debkit_triton.stats(), **available(), **functions, "compiled": compiled,
                      "transformers": transformers.__version__}))


main()
