"""Softmax of rows: Triton against torch, eager and compiled. python triton_softmax.py"""

import torch
import triton
import triton.language as tl

import assay


@assay.operation(reference=lambda x: torch.softmax(x, -1),
                 sizes=dict(rows=[1024, 16384], columns=[4096]))
def softmax(x: "in f32[rows, columns]", out: "out f32[rows, columns]"): ...


def eager(x, out):
    torch.softmax(x, -1, out=out)


@assay.variant(prepare=True)
def compiled(x, out):
    into = torch.compile(lambda x, out: out.copy_(torch.softmax(x, -1)))
    return lambda: into(x, out)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    start = tl.program_id(0).to(tl.int64) * columns
    v = tl.load(x + start + at, mask=at < columns, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + start + at, e / tl.sum(e, 0), mask=at < columns)


def fused(x, out, rows, columns):
    softmax_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)


if __name__ == "__main__":
    assay.run(softmax, [eager, compiled, fused]).table()
