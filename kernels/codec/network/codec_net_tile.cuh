/*
 * codec_net_tile.cuh - leaves in shared memory, for the fused encoder and decoder: the order of
 * their voxels, products with weights, and norms. A block has 256 threads.
 *
 * A block works on four leaves at 4^3 and on two at 8^3. A cell is one (z, y), which is 16 rows of
 * the product: row 4 l + x of leaf l at 4^3, row 8 l + x at 8^3. So when a tap shifts a cell along
 * z or y, all its rows are inside the leaf or all are outside, and products with the border can be
 * left out: 100 of 144 remain at 4^3, 484 of 576 at 8^3. A shift along x moves the rows of a cell
 * by one; rows that leave their leaf are zero.
 *
 * The channels of a voxel are one row, in pieces of four that are permuted from voxel to voxel, so
 * that loads of A (16 bytes per lane), stores of sums (8) and norms have no bank conflicts.
 *
 * Fragments are those of vq_search_mma.cuh: lane 4 g + q loads channels 16 p + 4 q to
 * 16 p + 4 q + 3 of rows g and g + 8 for two steps of eight.
 */
#pragma once

#include "codec_net_fused.h"
#include "kernels/codec/layers/group_norm.h"
#include "kernels/codec/search/vq_search_mma.cuh"

constexpr int NET_THREADS = 256, NET_WARPS = NET_THREADS / 32;
constexpr int SMALL_LEAVES = 4, LARGE_LEAVES = 2; /* leaves of a block at 4^3 and at 8^3 */
constexpr int SMALL_VOXELS = SMALL_LEAVES * LEAF_VECTORS;
constexpr int LARGE_VOXELS = LARGE_LEAVES * LEAF_VOXELS;

/* ----------------------------------------------------------------- outside -- */

/* Take a slot; `slot` is in shared memory. By all threads of the block. */
static __device__ __forceinline__ float4 *outside_take(const struct fused_outside &outside,
                                                       int *slot)
{
    if (threadIdx.x == 0) {
        int at = (int)(blockIdx.x % (unsigned)outside.slots);
        while (atomicCAS(&outside.taken[at], 0u, 1u) != 0)
            at = at + 1 < outside.slots ? at + 1 : 0;
        __threadfence(); /* nothing is written there before it is taken */
        *slot = at;
    }
    __syncthreads();
    return (float4 *)outside.memory + (int64_t)*slot * (FUSED_SLOT_BYTES / 16);
}

static __device__ __forceinline__ void outside_leave(const struct fused_outside &outside, int slot)
{
    __syncthreads();
    __threadfence(); /* each thread's reads and writes come before */
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&outside.taken[slot], 0u);
}

/* ------------------------------------------------------------------ layout -- */

/* The place of `piece` of a voxel, in pieces. voxel = 16 cell + row. */
template <int CHANNELS> static __device__ __forceinline__ int place(int voxel, int piece)
{
    const int swap = CHANNELS == 16 ? (voxel & 2) | (voxel >> 2 & 1)
                                    : (voxel & 1) << 2 | (voxel & 2) | (voxel >> 2 & 1);
    return voxel * (CHANNELS / 4) + (piece ^ swap);
}

/* Store the two neighbouring sums of a lane; `channel` is even. */
template <int CHANNELS>
static __device__ __forceinline__ float2 *pair_at(float4 *tile, int voxel, int channel)
{
    return (float2 *)(tile + place<CHANNELS>(voxel, channel / 4)) + channel / 2 % 2;
}

static __device__ __forceinline__ float round_tf32(float x)
{
    return __uint_as_float(mma_tf32(x));
}

/* A of the two steps of eight channels, in the order that the instruction takes: of row g,
 * then of row g + 8. `mask` is all ones, or zero for rows outside the leaf. As the
 * result of an operation, each number is in the register from which it is used; chosen by a
 * condition, it was copied there before each product. */
struct fragments {
    uint32_t of[2][4];

    __device__ __forceinline__ void load(float4 low, float4 high, uint32_t mask)
    {
        const float from[2][4] = {{low.x, high.x, low.y, high.y}, {low.z, high.z, low.w, high.w}};
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                of[half][i] = __float_as_uint(from[half][i]) & mask;
    }
};

/* The first or second step of eight channels. */
static __device__ __forceinline__ void half_product(float sum[4], const struct fragments &a,
                                                    const uint4 &b, int half)
{
    const uint32_t column[2] = {half ? b.z : b.x, half ? b.w : b.y};
    mma_m16n8k8(sum, a.of[half], column);
}

template <int TILES>
static __device__ __forceinline__ void load_weights(uint4 b[TILES], const uint4 *__restrict__ from)
{
#pragma unroll
    for (int t = 0; t < TILES; t++)
        b[t] = __ldg(from + t * 32);
}

template <int CELLS, int TILES>
static __device__ __forceinline__ void clear(float sum[CELLS][TILES][4])
{
#pragma unroll
    for (int i = 0; i < CELLS * TILES * 4; i++)
        (&sum[0][0][0])[i] = 0.0f;
}

/* -------------------------------------------------------------------- norm -- */

static __device__ __forceinline__ float warp_sum(float value)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    return value;
}

/* v = relu(norm(v)) of a group that a warp holds, N pieces of four channels per lane; a lane
 * holds the same four channels throughout. The variance is of the centred numbers. */
template <int N>
static __device__ __forceinline__ void norm_relu(float4 v[N], float4 gamma, float4 beta)
{
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
    const float mean = warp_sum(sum) / (float)(N * 128);
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = make_float4(v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean);
        squares += (v[i].x * v[i].x + v[i].y * v[i].y) + (v[i].z * v[i].z + v[i].w * v[i].w);
    }
    const float scale = rsqrtf(warp_sum(squares) / (float)(N * 128) + (float)NORM_EPSILON);
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = make_float4(fmaxf(fmaf(v[i].x * scale, gamma.x, beta.x), 0.0f),
                           fmaxf(fmaf(v[i].y * scale, gamma.y, beta.y), 0.0f),
                           fmaxf(fmaf(v[i].z * scale, gamma.z, beta.z), 0.0f),
                           fmaxf(fmaf(v[i].w * scale, gamma.w, beta.w), 0.0f));
}

static __device__ __forceinline__ float4 rounded(float4 v)
{
    return make_float4(round_tf32(v.x), round_tf32(v.y), round_tf32(v.z), round_tf32(v.w));
}

struct norm_weights {
    const float4 *gamma, *beta;
};

static struct norm_weights norm_of(const struct fused_norm *norm)
{
    return {(const float4 *)norm->gamma, (const float4 *)norm->beta};
}
