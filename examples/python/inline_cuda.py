"""A CUDA kernel through torch's inline loader against torch's own. python inline_cuda.py"""

import torch

import assay

SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
__global__ void relu_kernel(const float *x, float *out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
void relu(torch::Tensor x, torch::Tensor out) {
    int64_t n = x.numel();
    relu_kernel<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), n);
}
"""


@assay.operation(reference=torch.relu, sizes=dict(n=[1 << 20, 1 << 26]))
def relu(x: "in f32[n]", out: "out f32[n]"):
    """out = max(x, 0)"""


def eager(x, out):
    torch.clamp_min(x, 0, out=out)


@assay.variant(prepare=True, device="cuda")
def inline(x, out):
    from torch.utils.cpp_extension import load_inline
    module = load_inline("assay_relu", "void relu(torch::Tensor x, torch::Tensor out);", SOURCE,
                         functions=["relu"])
    return lambda: module.relu(x, out)


if __name__ == "__main__":
    assay.run(relu, [eager, inline], timeout=300).table()
