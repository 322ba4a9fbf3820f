/*
 * linear_naive.cu - one thread per output, which reads its row of x and its row of w from memory.
 *
 * Operations: 2 m n k in fp32. Bytes: 8 per multiply-add, mostly from L1 and L2.
 */
#include "linear.cuh"

enum { SIDE = 16 };

static __global__ void __launch_bounds__(SIDE *SIDE) naive(struct linear_operands operands)
{
    int64_t row = (int64_t)blockIdx.x * SIDE + threadIdx.y;
    int column = blockIdx.y * SIDE + threadIdx.x;
    if (row >= operands.m || column >= operands.n) return;
    const float *x = (const float *)operands.x + row * operands.k;
    float sum = 0.0f;
    for (int l = 0; l < operands.k; l++)
        sum += __ldg(x + l) * linear_weight<float>(operands, column, l);
    linear_put<float>(operands, row, column, sum);
}

static int product(const struct linear_operands *operands, cudaStream_t stream)
{
    dim3 grid(gpt_blocks(operands->m, SIDE), gpt_blocks(operands->n, SIDE)), block(SIDE, SIDE);
    naive<<<grid, block, 0, stream>>>(*operands);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "naive",
    .summary = "one output per thread, operands from memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = linear_only<GPT_FP32>,
    .setup = linear_setup,
    .launch = linear_launch<product>,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
