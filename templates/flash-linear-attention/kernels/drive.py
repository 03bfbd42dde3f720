"""Calls FLA's own entry points so that exactly the kernels of a profile are compiled.

The tensors are small and on the CPU. What a kernel is specialised for is the heads, their sizes,
the types, which optional arguments are there, and for some kernels the batch.
"""
import torch

LENGTH = 128
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
NORMALIZE = {"use_qk_l2norm_in_kernel": True}


class Shape:
    """Tensors of one pair of head counts, their sizes and a type."""

    def __init__(self, heads, sizes, dtype):
        self.heads, self.sizes, self.dtype = heads, sizes, dtype

    def inputs(self, batch=1, length=LENGTH, grad=False):
        (keys, values), (size_k, size_v) = self.heads, self.sizes

        def zeros(*shape, dtype=self.dtype):
            return torch.zeros(batch, length, *shape, dtype=dtype, requires_grad=grad)
        return {"q": zeros(keys, size_k), "k": zeros(keys, size_k), "v": zeros(values, size_v),
                "g": zeros(values, dtype=torch.float32), "beta": zeros(values)}

    def state(self, sequences):
        return torch.zeros(sequences, self.heads[1], *self.sizes, dtype=torch.float32)

    def variants(self, varlen, resumed=True):
        """initial_state and output_final_state as callers combine them; two sequences if varlen."""
        edges = torch.tensor([0, LENGTH // 2, LENGTH], dtype=torch.int32) if varlen else None
        first = self.state(2 if varlen else 1)
        for state, final in [(None, False), (None, True)] + [(first, True)] * resumed:
            yield {"initial_state": state, "output_final_state": final, "cu_seqlens": edges}


@torch.no_grad()
def prefill(shape, varlen=False, resumed=True):
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    for options in shape.variants(varlen, resumed):
        chunk_gated_delta_rule(**shape.inputs(), **options, **NORMALIZE)


@torch.no_grad()
def decode(shape, varlen=False):
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule
    for options in shape.variants(varlen):
        fused_recurrent_gated_delta_rule(**shape.inputs(length=LENGTH if varlen else 1), **options,
                                         **NORMALIZE)


@torch.no_grad()
def batches(shape, most):
    """The batch enters the constants of one kernel; every other kernel is there already."""
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    for batch in range(2, most + 1):
        chunk_gated_delta_rule(**shape.inputs(batch, 1), **NORMALIZE)


def backward(shape, varlen=False, batch=1):
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    options = next(shape.variants(varlen))
    length = LENGTH if batch == 1 else 1
    inputs = shape.inputs(batch, length, grad=True)
    out, _ = chunk_gated_delta_rule(**inputs, **options, **NORMALIZE)
    out.sum().backward()


def norm(shape, grad):
    """FusedRMSNormGated. Its backward divides the rows among the GPU's processors, and the quotient
    is specialised as 1, as a multiple of 16 and as any other number."""
    from fla.modules import FusedRMSNormGated
    from fla.utils import get_multiprocessor_count
    size = shape.sizes[1]
    layer = FusedRMSNormGated(size, eps=1e-6, activation="silu", dtype=shape.dtype)
    processors = get_multiprocessor_count(0)
    for rows in (processors, 2 * processors, 16 * processors) if grad else (64,):
        x, gate = (torch.zeros(rows, size, dtype=shape.dtype, requires_grad=grad) for _ in "xg")
        with torch.set_grad_enabled(grad):
            out = layer(x, gate)
            if grad:
                out.sum().backward()


def parts(profile):
    """(name, group, call) of each part of a profile. A part that FLA refuses fails alone; a group
    holds kernels that are used in the same kind of call."""
    for line in profile.lines:
        shape = Shape(line.heads, profile.sizes, TYPES[line.kind])
        todo = []
        if line.calls & {"prefill", "fresh"}:
            resumed = "prefill" in line.calls
            todo.append(("prefill", "plain", lambda: prefill(shape, resumed=resumed)))
            todo.append(("batches", "batches", lambda: batches(shape, profile.batch)))
        if "decode" in line.calls:
            todo.append(("decode", "plain", lambda: decode(shape)))
        if "norm" in line.calls:
            todo.append(("norm", "plain", lambda: norm(shape, False)))
        if "varlen" in line.calls:
            todo.append(("varlen prefill", "varlen", lambda: prefill(shape, True)))
            todo.append(("varlen decode", "varlen", lambda: decode(shape, True)))
        if "backward" in line.calls:
            todo += backward_parts(profile, line, shape)
        for name, group, call in todo:
            yield f"{name} {line.heads[0]}/{line.heads[1]} {line.kind}", group, call


def backward_parts(profile, line, shape):
    if "varlen" in line.calls:
        yield "varlen backward", "varlen backward", lambda: backward(shape, True)
    for batch in profile.training:
        group = "backward" if batch == 1 else "batches"
        yield "backward", group, lambda batch=batch: backward(shape, batch=batch)
    if "norm" in line.calls:
        yield "norm backward", "backward", lambda: norm(shape, True)
