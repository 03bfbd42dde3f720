"""FLA's entry points at a real shape, on the GPU. The last line is JSON: the counts of the overlay,
the kernels that Triton compiled, and the seconds of import and of the first calls.

calls.py [forward|backward] [LENGTH...]
"""
import json
import sys
import time
import warnings

start = time.monotonic()
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch
from fla.modules import FusedRMSNormGated
from fla.ops.gated_delta_rule import chunk_gated_delta_rule, fused_recurrent_gated_delta_rule
from triton import knobs

KEYS, VALUES, SIZE = 16, 32, 128
compiled = []


def listen(*, src, metadata, metadata_group, times, cache_hit):
    if not cache_hit:
        compiled.append(src.name)


def inputs(length, grad):
    def zeros(*shape, dtype=torch.bfloat16):
        return torch.zeros(1, length, *shape, dtype=dtype, device="cuda", requires_grad=grad)
    return {"q": zeros(KEYS, SIZE), "k": zeros(KEYS, SIZE), "v": zeros(VALUES, SIZE),
            "g": zeros(VALUES, dtype=torch.float32), "beta": zeros(VALUES)}


@torch.no_grad()
def forward(length):
    options = {"output_final_state": True, "use_qk_l2norm_in_kernel": True}
    out, state = chunk_gated_delta_rule(**inputs(length, False), **options)
    fused_recurrent_gated_delta_rule(**inputs(1, False), initial_state=state, **options)
    chunk_gated_delta_rule(**inputs(length, False), initial_state=state, **options)
    norm = FusedRMSNormGated(SIZE, eps=1e-6, activation="silu", dtype=torch.bfloat16, device="cuda")
    norm(out.reshape(-1, SIZE), out.reshape(-1, SIZE))


def backward(length):
    out, _ = chunk_gated_delta_rule(**inputs(length, True), use_qk_l2norm_in_kernel=True)
    norm = FusedRMSNormGated(SIZE, eps=1e-6, activation="silu", dtype=torch.bfloat16, device="cuda")
    norm(out.reshape(-1, SIZE), out.reshape(-1, SIZE)).sum().backward()


def main():
    knobs.compilation.listener = listen
    call = {"forward": forward, "backward": backward}[sys.argv[1]]
    imported = time.monotonic()
    for length in map(int, sys.argv[2:]):
        call(length)
    torch.cuda.synchronize()
    counts = {}
    if "debkit_triton" in sys.modules:
        counts = sys.modules["debkit_triton"].stats()
    print(json.dumps({**counts, "compiled": sorted(set(compiled)), "compiles": len(compiled),
                      "import_s": round(imported - start, 1),
                      "first_s": round(time.monotonic() - imported, 1)}))


main()
