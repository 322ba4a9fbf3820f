/*
 * linear_tf32_32.cu - tensor cores with tiles of 16, 32 (the size of the published kernel) or 64
 * squared outputs and 32 of k: a warp per 16 x 16 outputs; copies to shared memory and products do
 * not overlap.
 *
 * Operations: 2 m n k in tf32. Bytes: x is read n / SIDE times and w m / SIDE times, mostly from
 * L2. Takes any shape. Rows in shared memory are padded to 36 words, so that the 8 rows and 4 words
 * of a fragment are in 32 different banks. Every output is the same sum in the same order, whatever
 * the tile.
 */
#include "linear.cuh"
#include "kernels/gpt/mma.cuh"

enum { DEPTH = LINEAR_TILE, PITCH = DEPTH + 4 };

template <int SIDE>
static __global__ void __launch_bounds__(SIDE / 16 * SIDE / 16 * 32)
    tf32_tile(struct linear_operands operands)
{
    constexpr int ACROSS = SIDE / 16;
    __shared__ float x[SIDE][PITCH], w[SIDE][PITCH]; /* w as [n][k] */
    int64_t row0 = (int64_t)blockIdx.x * SIDE;
    int column0 = blockIdx.y * SIDE;
    int k = (int)operands.k;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int at_row = warp / ACROSS * 16 + lane / 4, at_column = warp % ACROSS * 16 + lane / 4;
    float sum[2][4] = {};
    for (int l0 = 0; l0 < k; l0 += DEPTH) {
        linear_load_tile<ACROSS * ACROSS>(x, w, operands, row0, column0, l0, warp, lane);
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l += 8) {
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
            linear_put<float>(operands, row0 + warp / ACROSS * 16 + mma_row(lane, i),
                              column0 + warp % ACROSS * 16 + 8 * j + mma_column(lane, i),
                              sum[j][i]);
}

template <int SIDE> static int product(const struct linear_operands *operands, cudaStream_t stream)
{
    dim3 grid(gpt_blocks(operands->m, SIDE), gpt_blocks(operands->n, SIDE));
    tf32_tile<SIDE><<<grid, SIDE / 16 * SIDE / 16 * 32, 0, stream>>>(*operands);
    return assay_launched();
}

int linear_tf32_32(const struct linear_operands *operands, cudaStream_t stream)
{
    return product<32>(operands, stream);
}

template <int SIDE>
static constexpr struct assay_variant named(const char *name, const char *summary)
{
    return {
        .operation = "linear",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .min_sm = 80,
        .supports = linear_only<GPT_TF32>,
        .setup = linear_setup,
        .launch = linear_launch<product<SIDE>>,
        .teardown = device_memory_free,
    };
}

static constexpr struct assay_variant tile_16 =
    named<16>("tf32_16", "tensor cores, tiles of 16 x 16, one stage");
static constexpr struct assay_variant tile_32 =
    named<32>("tf32_32", "tensor cores, tiles of 32 x 32, one stage");
static constexpr struct assay_variant tile_64 =
    named<64>("tf32_64", "tensor cores, tiles of 64 x 64, one stage");
ASSAY_REGISTER_VARIANT(tile_16);
ASSAY_REGISTER_VARIANT(tile_32);
ASSAY_REGISTER_VARIANT(tile_64);
