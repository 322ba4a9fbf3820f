/*
 * linear_smem32.cu - tiles of 32 x 32 outputs, operands in steps of 32 through shared memory, four
 * outputs per thread, fp32 throughout.
 *
 * Operations: 2 m n k in fp32. Bytes: x is read n / 32 times and w m / 32 times, mostly from L2.
 */
#include "linear.cuh"
#include "linear_products.h"

enum { TILE = LINEAR_TILE, ROWS = 8, EACH = TILE / ROWS };

static __global__ void __launch_bounds__(TILE *ROWS) smem32(struct linear_operands operands)
{
    __shared__ float x[TILE][TILE + 1], w[TILE][TILE + 1]; /* w as [n][k] */
    int64_t row0 = (int64_t)blockIdx.x * TILE;
    int column0 = blockIdx.y * TILE, lane = threadIdx.x;
    int k = (int)operands.k;
    float sum[EACH] = {0.0f};
    for (int l0 = 0; l0 < k; l0 += TILE) {
        linear_load_tile<ROWS>(x, w, operands, row0, column0, l0, threadIdx.y, lane);
        __syncthreads();
#pragma unroll
        for (int l = 0; l < TILE; l++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                sum[e] += x[threadIdx.y + e * ROWS][l] * w[lane][l];
        __syncthreads();
    }
    for (int e = 0; e < EACH; e++)
        linear_put<float>(operands, row0 + threadIdx.y + e * ROWS, column0 + lane, sum[e]);
}

int linear_smem32(const struct linear_operands *operands, cudaStream_t stream)
{
    dim3 grid(gpt_blocks(operands->m, TILE), gpt_blocks(operands->n, TILE)), block(TILE, ROWS);
    smem32<<<grid, block, 0, stream>>>(*operands);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "smem32",
    .summary = "tiles of 32 x 32 through shared memory, fp32",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = linear_only<GPT_FP32>,
    .setup = linear_setup,
    .launch = linear_launch<linear_smem32>,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
