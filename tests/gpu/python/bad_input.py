"""What a launch on a GPU must not do costs its own row, with a line that says what it was. TAP."""

import os
import time

import cupy as cp
import torch

import assay

ENQUEUE = "a launch may only enqueue on the current stream"


@assay.operation(reference=lambda x: 2 * x, sizes=dict(n=[1 << 20]))
def double(x: "in f32[n]", out: "out f32[n]"): ...


def right(x, out):
    torch.mul(x, 2, out=out)


@assay.variant(tensors_of="cupy")
def right_by_cupy(x, out):
    cp.multiply(x, cp.float32(2), out=out)


def with_a_workspace(x, out):
    torch.add(x * 1, x, out=out)  # from torch's cache: no allocation by the driver


def returns_outputs(x, out):
    return torch.mul(x, 2, out=out)


def synchronises(x, out):
    torch.mul(x, 2, out=out)
    torch.cuda.synchronize()


def reads_back(x, out):
    torch.mul(x, 2 if x[0].item() < 1e9 else 3, out=out)


@assay.variant(clock="wall")
def synchronises_by_design(x, out):
    torch.mul(x, 2, out=out)
    torch.cuda.synchronize()


def allocates(x, out):
    cp.cuda.runtime.free(cp.cuda.runtime.malloc(1 << 20))
    torch.mul(x, 2, out=out)


def on_another_stream(x, out):
    with torch.cuda.stream(torch.cuda.default_stream()):
        torch.mul(x, 2, out=out)


def new_tensor(x, out):
    return 2 * x


def changes_its_input(x, out):
    torch.mul(x, 2, out=out)
    x.zero_()


def raises(x, out):
    raise ValueError("no")


def of_the_cpu(x, out):
    torch.add(x, torch.ones(len(x)), out=out)


def of_another_type(x, out):
    torch.mul(x.double(), 2, out=out.view(torch.int32))


@assay.variant(prepare=True, tensors_of="cupy")
def writes_nowhere(x, out):
    kernel = cp.RawKernel('extern "C" __global__ void f(int *p) { *p = 1; }', "f")
    return lambda: kernel((1,), (1,), (cp.uint64(64),))


@assay.variant(prepare=True, tensors_of="cupy")
def never_ends(x, out):
    kernel = cp.RawKernel(
        'extern "C" __global__ void f(volatile int *p) { while (*p == *p || *p) *p = 1; }', "f")
    return lambda: kernel((1,), (1,), (out,))


def ends(x, out):
    os._exit(3)


def slow_to_launch(x, out):
    time.sleep(0.005)
    torch.mul(x, 2, out=out)


EXPECTED = [
    (right, "ok", None), (right_by_cupy, "ok", None), (with_a_workspace, "ok", None),
    (returns_outputs, "ok", None), (synchronises_by_design, "ok", None), (slow_to_launch, "ok", None),
    (synchronises, "crashed", ENQUEUE), (reads_back, "crashed", ENQUEUE),
    (allocates, "crashed", ENQUEUE),
    (on_another_stream, "crashed", "it launched nothing on the current stream"),
    (new_tensor, "crashed", "it returned a new Tensor"),
    (changes_its_input, "wrong", "changed its input 'x'"), (raises, "crashed", "ValueError: no"),
    (of_the_cpu, "crashed", "RuntimeError"), (of_another_type, "crashed", "RuntimeError"),
    (writes_nowhere, "crashed", ""), (never_ends, "timeout", "no answer within 20 s"),
    (ends, "crashed", "exit status 3"),
]

if __name__ == "__main__":
    run = assay.run(double, [variant for variant, _, _ in EXPECTED], device="cuda:0", timeout=20,
                    ceilings=False, baseline="right")
    rows = {row["variant"]: row for row in run.rows}
    for variant, status, words in EXPECTED:
        row = rows[getattr(variant, "name", None) or variant.__name__]
        right = row["status"] == status and (words or "") in (row["reason"] or "")
        if row["variant"] == "slow_to_launch":
            right = right and "replayed from a graph" in (row["note"] or "")
        print(f"{'ok' if right else 'not ok'} - {row['variant']}: {row['status']}: {row['reason']} "
              f"{row['note'] or ''}")
    print(f"{'ok' if run.exit_code == 5 else 'not ok'} - exit code {run.exit_code}")
