/*
 * linear_tf32_32.cu - tensor cores with tiles of 32 x 32 x 32, the size of the published kernel:
 * four warps of 16 x 16 outputs each; copies to shared memory and products do not overlap.
 *
 * Operations: 2 m n k in tf32. Bytes: x is read n / 32 times and w m / 32 times, mostly from L2.
 * Takes any shape. Rows in shared memory are padded to 36 words, so that the 8 rows and 4 words of
 * a fragment are in 32 different banks.
 */
#include "linear.cuh"
#include "kernels/gpt/mma.cuh"

enum { TILE = LINEAR_TILE, PITCH = TILE + 4, THREADS = 128 };

static __global__ void __launch_bounds__(THREADS) tf32_32(struct linear_operands operands)
{
    __shared__ float x[TILE][PITCH], w[TILE][PITCH]; /* w as [n][k] */
    int64_t row0 = (int64_t)blockIdx.x * TILE;
    int column0 = blockIdx.y * TILE;
    int k = (int)operands.k;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int at_row = warp / 2 * 16 + lane / 4, at_column = warp % 2 * 16 + lane / 4;
    float sum[2][4] = {};
    for (int l0 = 0; l0 < k; l0 += TILE) {
        linear_load_tile<THREADS / 32>(x, w, operands, row0, column0, l0, warp, lane);
        __syncthreads();
#pragma unroll
        for (int l = 0; l < TILE; l += 8) {
            int at = l + lane % 4;
            uint32_t a[4] = {__float_as_uint(x[at_row][at]), __float_as_uint(x[at_row + 8][at]),
                             __float_as_uint(x[at_row][at + 4]),
                             __float_as_uint(x[at_row + 8][at + 4])};
#pragma unroll
            for (int j = 0; j < 2; j++)
                mma_step(float(), sum[j], a, __float_as_uint(w[at_column + 8 * j][at]),
                         __float_as_uint(w[at_column + 8 * j][at + 4]));
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++)
            linear_put<float>(operands, row0 + warp / 2 * 16 + mma_row(lane, i),
                              column0 + warp % 2 * 16 + 8 * j + mma_column(lane, i), sum[j][i]);
}

int linear_tf32_32(const struct linear_operands *operands, cudaStream_t stream)
{
    dim3 grid(gpt_blocks(operands->m, TILE), gpt_blocks(operands->n, TILE));
    tf32_32<<<grid, THREADS, 0, stream>>>(*operands);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "tf32_32",
    .summary = "tensor cores, tiles of 32 x 32, one stage",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .supports = linear_only<GPT_TF32>,
    .setup = linear_setup,
    .launch = linear_launch<linear_tf32_32>,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
