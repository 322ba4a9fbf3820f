"""A CUDA kernel through CuPy's RawKernel against CuPy's own arithmetic. python cupy_kernel.py"""

import cupy as cp

import assay

SOURCE = r"""
extern "C" __global__ void axpy(const float *x, const float *y, float *out, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.5f * x[i] + y[i];
}
"""


@assay.operation(reference=lambda x, y: 2.5 * x + y, sizes=dict(n=[1 << 20, 1 << 26]),
                 flops=lambda s: 2 * s.n)
def axpy(x: "in f32[n]", y: "in f32[n]", out: "out f32[n]"):
    """out = 2.5 x + y"""


def two_steps(x, y, out):
    cp.multiply(x, cp.float32(2.5), out=out)
    cp.add(out, y, out=out)


@assay.variant(prepare=True)
def raw_kernel(x, y, out):
    kernel = cp.RawKernel(SOURCE, "axpy")
    blocks = (x.size + 255) // 256
    return lambda: kernel((blocks,), (256,), (x, y, out, cp.int64(x.size)))


if __name__ == "__main__":
    assay.run(axpy, [two_steps, raw_kernel]).table()
