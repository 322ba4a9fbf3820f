/*
 * codec_net_encode_small.cu - the encoder's second kernel: a block takes four leaves at 4^3 through
 * the residual block, the attention and the search.
 *
 * The last convolution and the search are one product with 32 numbers per voxel (codec_pack.h), so
 * z is never computed. It is in fp32, by three products of tf32 parts. The other convolutions have
 * tf32 operands.
 *
 * Bytes per leaf: 8192 read, 64 written. Operations: 11.8 M as the operation counts them, but fewer
 * are executed: 70 % of the residual block's 7.1 M (the rest is on zeros of the border), and three
 * times 1.05 M in tf32 instead of 4.7 M for the last convolution and the search.
 */
#include "codec_net_small.cuh"
#include "kernels/cuda/cuda_limits.h"

constexpr int DOWN_PIECES = (int)NET_DOWN / 4;

struct small_weights {
    struct residual_weights residual;
    struct attention_weights attention;
    const uint4 *search_high, *search_low;
    const float *search_bias;
};

struct small_memory {
    float4 x[SMALL_VOXELS * DOWN_PIECES];
    float4 t[SMALL_VOXELS * DOWN_PIECES];
    float scratch[2 * SMALL_LEAVES * NET_DOWN];
};

static __device__ __forceinline__ void load_small(float4 *x, const float4 *__restrict__ from,
                                                  int64_t first, int64_t leaves)
{
    for (int i = threadIdx.x; i < SMALL_VOXELS * DOWN_PIECES; i += NET_THREADS) {
        const int piece = i % DOWN_PIECES, voxel = i / DOWN_PIECES % LEAF_VECTORS;
        const int leaf = i / DOWN_PIECES / LEAF_VECTORS;
        const bool there = first + leaf < leaves;
        x[place<NET_DOWN>(voxel / 4 * 16 + 4 * leaf + voxel % 4, piece)] =
            there ? from[first * LEAF_VECTORS * DOWN_PIECES + i]
                  : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

/* sum += a b in fp32, for tiles of eight codewords; a and b in parts of 11 bits. */
template <int TILES>
static __device__ __forceinline__ void product_3xtf32(float sum[TILES][4],
                                                      const struct fragments &high,
                                                      const struct fragments &low,
                                                      const uint4 *b_high, const uint4 *b_low)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int t = 0; t < TILES; t++)
            half_product(sum[t], low, b_high[t], half);
#pragma unroll
        for (int t = 0; t < TILES; t++)
            half_product(sum[t], high, b_low[t], half);
#pragma unroll
        for (int t = 0; t < TILES; t++)
            half_product(sum[t], high, b_high[t], half);
    }
}

/* `row` 0 is row g, 1 is row g + 8. */
static __device__ __forceinline__ void split(float4 v, int row, struct fragments *high,
                                             struct fragments *low)
{
    const float from[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t top = mma_tf32(from[i]);
        high->of[i / 2][i % 2 * 2 + row] = top;
        low->of[i / 2][i % 2 * 2 + row] = mma_tf32(from[i] - __uint_as_float(top));
    }
}

/* A warp has two cells of 16 voxels against all codewords, two tiles of 8 at a time. */
static __device__ __forceinline__ void search(const float4 *x, const struct small_weights &weights,
                                              uint8_t *__restrict__ codes, int64_t first,
                                              int64_t leaves)
{
    enum { TILES = 2, ALL = CODEWORDS / 8, STEPS = NET_DOWN / 16, CELLS = 16 / NET_WARPS };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    struct fragments high[CELLS][STEPS], low[CELLS][STEPS];
    struct search_best best[CELLS][2];
#pragma unroll
    for (int c = 0; c < CELLS; c++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int voxel = 16 * (CELLS * warp + c) + 8 * half + g;
#pragma unroll
            for (int p = 0; p < STEPS; p++)
                split(x[place<NET_DOWN>(voxel, 4 * p + q)], half, &high[c][p], &low[c][p]);
            best[c][half].start();
        }
#pragma unroll 1
    for (int tile = 0; tile < ALL; tile += TILES) {
        float sum[CELLS][TILES][4];
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            const float2 bias = *(const float2 *)(weights.search_bias + 8 * (tile + t) + 2 * q);
#pragma unroll
            for (int c = 0; c < CELLS; c++) {
                sum[c][t][0] = sum[c][t][2] = bias.x;
                sum[c][t][1] = sum[c][t][3] = bias.y;
            }
        }
#pragma unroll
        for (int p = 0; p < STEPS; p++) {
            uint4 b_high[TILES], b_low[TILES];
            load_weights<TILES>(b_high, weights.search_high + (p * ALL + tile) * 32 + lane);
            load_weights<TILES>(b_low, weights.search_low + (p * ALL + tile) * 32 + lane);
#pragma unroll
            for (int c = 0; c < CELLS; c++)
                product_3xtf32<TILES>(sum[c], high[c][p], low[c][p], b_high, b_low);
        }
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int c = 0; c < CELLS; c++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    best[c][i / 2].offer(sum[c][t][i], 8 * (tile + t) + 2 * q + i % 2);
    }
#pragma unroll
    for (int c = 0; c < CELLS; c++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            best[c][half].merge(1);
            best[c][half].merge(2);
            const int64_t leaf = first + g / 4 + 2 * half;
            if (q == 0 && leaf < leaves)
                codes[leaf * LEAF_VECTORS + 4 * (CELLS * warp + c) + g % 4] =
                    (uint8_t)best[c][half].at;
        }
}

static __global__ void __launch_bounds__(NET_THREADS, 2)
    encode_small(const __grid_constant__ struct small_weights weights,
                 const float4 *__restrict__ from, uint8_t *__restrict__ codes, int64_t leaves)
{
    extern __shared__ float4 small_shared[];
    struct small_memory *memory = (struct small_memory *)small_shared;
    const int64_t first = (int64_t)blockIdx.x * SMALL_LEAVES;
    load_small(memory->x, from, first, leaves);
    residual_small<NET_DOWN>(team_alone(), memory->x, memory->t, weights.residual);
    attend<NET_DOWN, false>(memory->x, memory->scratch, weights.attention);
    search(memory->x, weights, codes, first, leaves);
}

/* ---------------------------------------------------------------- launch -- */

static struct small_weights small_of(const struct fused_encoder *weights)
{
    return {residual_of(&weights->down_residual), attention_of(&weights->attention),
            (const uint4 *)weights->search_high, (const uint4 *)weights->search_low,
            weights->search_bias};
}

int fused_prepare_encode_small(void)
{
    return cuda_allow_shared((const void *)encode_small, sizeof(struct small_memory));
}

int fused_encode_small(const struct fused_encoder *weights, const float *from, uint8_t *codes,
                       int64_t leaves, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((leaves + SMALL_LEAVES - 1) / SMALL_LEAVES);
    encode_small<<<blocks, NET_THREADS, sizeof(struct small_memory), stream>>>(
        small_of(weights), (const float4 *)from, codes, leaves);
    return assay_launched();
}
