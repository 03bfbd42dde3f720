"""FLA's entry points at a real shape, on the GPU. The last line is JSON: the counts of the overlay,
the kernels that Triton compiled, and the seconds of import and of the first calls.

calls.py CALL LENGTH... [--heads KEYS/VALUES] [--type bf16|fp16] [--batch N...]
"""
import argparse
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

compiled = []


def listen(*, src, metadata, metadata_group, times, cache_hit):
    if not cache_hit:
        compiled.append(src.name)


SIZE = 128
NORMALIZE = {"use_qk_l2norm_in_kernel": True}


class Shape:
    def __init__(self, args, batch):
        self.keys, self.values = map(int, args.heads.split("/"))
        self.dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[args.type]
        self.batch = batch

    def inputs(self, length, grad=False, batch=None):
        def zeros(*shape, dtype=self.dtype):
            return torch.zeros(batch or self.batch, length, *shape, dtype=dtype, device="cuda",
                               requires_grad=grad)
        return {"q": zeros(self.keys, SIZE), "k": zeros(self.keys, SIZE),
                "v": zeros(self.values, SIZE), "g": zeros(self.values, dtype=torch.float32),
                "beta": zeros(self.values)}

    def norm(self, out):
        layer = FusedRMSNormGated(SIZE, eps=1e-6, activation="silu", dtype=self.dtype,
                                  device="cuda")
        return layer(out.reshape(-1, SIZE), out.reshape(-1, SIZE))


@torch.no_grad()
def forward(shape, length):
    """A prompt, a token, and a prompt that goes on."""
    options = {"output_final_state": True, **NORMALIZE}
    out, state = chunk_gated_delta_rule(**shape.inputs(length), **options)
    fused_recurrent_gated_delta_rule(**shape.inputs(1), initial_state=state, **options)
    chunk_gated_delta_rule(**shape.inputs(length), initial_state=state, **options)
    shape.norm(out)


@torch.no_grad()
def decode(shape, length):
    """A token after such a prompt, which is not computed."""
    state = torch.zeros(shape.batch, shape.values, SIZE, SIZE, device="cuda")
    out, _ = fused_recurrent_gated_delta_rule(**shape.inputs(length), initial_state=state,
                                              output_final_state=True, **NORMALIZE)
    shape.norm(out)


@torch.no_grad()
def fresh(shape, length):
    """Prompts without a state before them, and a token; a state is kept or not."""
    for kept in (False, True):
        _, state = chunk_gated_delta_rule(**shape.inputs(length), output_final_state=kept,
                                          **NORMALIZE)
    fused_recurrent_gated_delta_rule(**shape.inputs(1), initial_state=state,
                                     output_final_state=True, **NORMALIZE)


def packed(length):
    """Edges of three sequences, one of them of a single token. FLA computes with those on the CPU;
    the stub GPU computes nothing."""
    edges = torch.tensor([0, 1, 1 + length // 3, length], dtype=torch.int32)
    return {"cu_seqlens": edges.cuda(), "cu_seqlens_cpu": edges}


@torch.no_grad()
def varlen(shape, length):
    options = {**packed(length), "output_final_state": True, **NORMALIZE}
    for call in (chunk_gated_delta_rule, fused_recurrent_gated_delta_rule):
        _, state = call(**shape.inputs(length, batch=1), **options)
        call(**shape.inputs(length, batch=1), initial_state=state, **options)


def backward(shape, length):
    out, _ = chunk_gated_delta_rule(**shape.inputs(length, True), **NORMALIZE)
    shape.norm(out).sum().backward()


def varlen_backward(shape, length):
    out, _ = chunk_gated_delta_rule(**shape.inputs(length, True, batch=1),
                                    **packed(length), **NORMALIZE)
    out.sum().backward()


def main():
    calls = {call.__name__: call
             for call in (forward, decode, fresh, varlen, backward, varlen_backward)}
    parser = argparse.ArgumentParser()
    parser.add_argument("call", choices=calls)
    parser.add_argument("lengths", nargs="+", type=int)
    parser.add_argument("--heads", default="16/32")
    parser.add_argument("--type", default="bf16")
    parser.add_argument("--batch", nargs="+", type=int, default=[1])
    args = parser.parse_args()
    knobs.compilation.listener = listen
    imported = time.monotonic()
    for batch in args.batch:
        for length in args.lengths:
            calls[args.call](Shape(args, batch), length)
    torch.cuda.synchronize()
    counts = {}
    if "debkit_triton" in sys.modules:
        counts = sys.modules["debkit_triton"].stats()
    print(json.dumps({**counts, "compiled": sorted(set(compiled)), "compiles": len(compiled),
                      "import_s": round(imported - start, 1),
                      "first_s": round(time.monotonic() - imported, 1)}))


main()
