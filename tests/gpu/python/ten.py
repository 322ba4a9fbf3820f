"""Ten kernels, launched from C and from Python in the same rounds: medians differ by 0.1 us at most."""

import cupy as cp
import torch

import assay

KERNELS = dict(
    copy=lambda x: x, scale=lambda x: 2.5 * x, relu=torch.relu, square=torch.square,
    sigmoid=torch.sigmoid, gelu=torch.nn.functional.gelu, softplus=torch.nn.functional.softplus,
    reverse=lambda x: x.flip(0), neighbours=lambda x: (x + x.roll(-1)) / 2,
    block_sum=lambda x: x.view(-1, 256).sum(1, keepdim=True).expand(-1, 256).reshape(-1))
MOST_NS = 100


@assay.operation(reference=lambda x, kernel: KERNELS[kernel](x), tolerance=(1e-4, 1e-5),
                 sizes=dict(kernel=list(KERNELS), n=[1 << 20]))
def ten(x: "in f32[n]", out: "out f32[n]"): ...


@assay.variant(prepare=True, tensors_of="cupy")
def python(x, out, kernel, n):
    function = cp.RawModule(path="ten.cubin").get_function(kernel)
    return lambda: function(((n + 255) // 256,), (256,), (x, out, cp.int64(n)))


if __name__ == "__main__":
    run = assay.run(ten, ["c", python], temperature="cold, hot", load=["./ten.so"], device="cuda:0")
    times = {(row["shape"]["kernel"], row["temperature"], row["variant"]): row["time_ns"]
             for row in run.rows}
    for kernel in KERNELS:
        for temperature in ("cold", "hot"):
            c, py = (times[kernel, temperature, variant] for variant in ("c", "python"))
            right = c is not None and py is not None and abs(py - c) <= MOST_NS
            print(f"{'ok' if right else 'not ok'} - {kernel} {temperature}: "
                  f"C {c} ns, Python {py} ns")
