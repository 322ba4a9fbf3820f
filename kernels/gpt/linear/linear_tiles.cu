/*
 * linear_tiles.cu - the textbook's tiles: a block copies the operands of its outputs to shared
 * memory, 32 of k at a time, and multiplies. Copies and products do not overlap.
 *
 *   smem32   tiles of 32 x 32 outputs, four outputs per thread, fp32 throughout
 *   tf32_16, tf32_32 (the size of the published kernel), tf32_64
 *            tensor cores with tiles of 16, 32 or 64 squared outputs, a warp per 16 x 16. Rows in
 *            shared memory are padded to 36 words, so that the 8 rows and 4 words of a fragment are
 *            in 32 different banks. Every output is the same sum in the same order, whatever the
 *            tile
 *
 * Operations: 2 m n k. Bytes: x is read n / side of the tile times and w m / side times, mostly
 * from L2. All take any shape.
 */
#include "linear.cuh"
#include "kernels/gpt/mma.cuh"

enum { DEPTH = 32 }; /* of k, and the lanes of a warp */

/* Copy the operands of a tile of SIDE x SIDE outputs, DEPTH of k from `k0` on, with zeros outside;
 * w as [n][k]. The calling thread is `lane` of warp number `warp` of WARPS. */
template <int WARPS, int SIDE, int PITCH>
static __device__ __forceinline__ void load_tile(float (&x)[SIDE][PITCH], float (&w)[SIDE][PITCH],
                                                 const struct linear_operands &operands,
                                                 int64_t row0, int column0, int k0, int warp,
                                                 int lane)
{
    int m = (int)operands.m, n = (int)operands.n, k = (int)operands.k;
    for (int i = warp; i < SIDE; i += WARPS) {
        bool inside = row0 + i < m && k0 + lane < k;
        x[i][lane] = inside ? __ldg((const float *)operands.x + (row0 + i) * k + k0 + lane) : 0;
        /* Successive lanes read successive addresses of w. */
        int at = i * DEPTH + lane;
        int at_n = operands.transposed ? at % SIDE : i,
            at_k = operands.transposed ? at / SIDE : lane;
        inside = column0 + at_n < n && k0 + at_k < k;
        w[at_n][at_k] = inside ? linear_weight<float>(operands, column0 + at_n, k0 + at_k) : 0.0f;
    }
}

/* ------------------------------------------------------------------ fp32 -- */

enum { TILE = DEPTH, ROWS = 8, EACH = TILE / ROWS };

static __global__ void __launch_bounds__(TILE *ROWS) smem32(struct linear_operands operands)
{
    __shared__ float x[TILE][TILE + 1], w[TILE][TILE + 1]; /* w as [n][k] */
    int64_t row0 = (int64_t)blockIdx.x * TILE;
    int column0 = blockIdx.y * TILE, lane = threadIdx.x;
    int k = (int)operands.k;
    float sum[EACH] = {0.0f};
    for (int l0 = 0; l0 < k; l0 += TILE) {
        load_tile<ROWS>(x, w, operands, row0, column0, l0, threadIdx.y, lane);
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

static const struct assay_variant cores = {
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
ASSAY_REGISTER_VARIANT(cores);

/* ------------------------------------------------------------------ tf32 -- */

enum { PITCH = DEPTH + 4 };

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
        load_tile<ACROSS * ACROSS>(x, w, operands, row0, column0, l0, warp, lane);
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
