/*
 * codec_net_decode.cu - the whole decoder in one kernel: a block takes four leaves from codes to
 * voxels, and all activations stay in shared memory.
 *
 *   widen     one look-up per tap and voxel in a table of all codewords (codec_pack.h), in fp32:
 *             1 MB from cache per block instead of 77 MFLOP
 *   residual  tensor cores, tf32 (codec_net_small.cuh)
 *   expand    64 of its 256 channels at a time, which are 8 channels at 8^3; they go through the
 *             shuffle to shared memory and into the sums of the last convolution
 *   last      fp32, one thread per row of eight voxels, which keeps their sums throughout
 *
 * Bytes per leaf: 64 read, 2048 written. Operations: 114.1 M as the operation counts them. 28.3 M
 * become look-ups; 31 % of the rest would be on zeros of the border and are left out: about 60 M
 * remain. Each block reads the weights, 2.7 MB, from L2 once, one tap ahead.
 */
#include "codec_net_small.cuh"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/cuda_limits.h"

constexpr int LAST_TAPS = 28;    /* 27 and one for alignment */
constexpr int PASS_TILES = 8;    /* of eight channels in a pass of expand: 64 channels, */
constexpr int PASS_CHANNELS = 8; /* which are so many at 8^3 */
constexpr int PASSES = (int)NET_EXPANDED / (8 * PASS_TILES);
constexpr int WIDE_PIECES = (int)NET_WIDE / 4;
constexpr int LAST_NUMBERS = (int)NET_SHUFFLED * LAST_TAPS;

struct decode_weights {
    const float4 *table, *widen_bias;
    struct norm_weights norm;
    struct residual_weights residual;
    struct attention_weights attention;
    const uint4 *expand;
    const float *expand_bias, *last, *last_bias;
};

struct decode_memory {
    float4 t[SMALL_VOXELS * WIDE_PIECES]; /* and the shuffled channels of a pass */
    float4 last[LAST_NUMBERS / 4];
    float scratch[2 * SMALL_LEAVES * NET_WIDE];
    uint8_t codes[SMALL_LEAVES * LEAF_VECTORS];
    int slot;
};

/* x, the residual stream, is in front of it in shared memory, unless it is outside. */
constexpr int WIDE_X_BYTES = SMALL_VOXELS * WIDE_PIECES * 16;
static_assert(WIDE_X_BYTES == FUSED_SLOT_BYTES);

/* x = conv3 of the codewords, for the block's share of the channels. A thread has four channels of
 * a voxel, and nine look-ups in flight. */
template <int PIECES>
static __device__ __forceinline__ void widen(const struct decode_memory *memory, float4 *x,
                                             const struct decode_weights &weights, int first)
{
    const int piece = first + threadIdx.x % PIECES;
    for (int voxel = threadIdx.x / PIECES; voxel < SMALL_VOXELS; voxel += NET_THREADS / PIECES) {
        const int cell = voxel / 16, row = voxel % 16, row_x = row % 4;
        const uint8_t *codes = memory->codes + row / 4 * LEAF_VECTORS;
        float4 sum = weights.widen_bias[piece];
#pragma unroll
        for (int dz = 0; dz < 3; dz++) {
            const int z = cell / 4 + dz - 1;
            if ((unsigned)z >= 4u) continue;
            float4 v[9];
#pragma unroll
            for (int tap = 0; tap < 9; tap++) {
                const int y = cell % 4 + tap / 3 - 1, from_x = row_x + tap % 3 - 1;
                v[tap] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if ((unsigned)y >= 4u || (unsigned)from_x >= 4u) continue;
                const int code = codes[16 * z + 4 * y + from_x];
                v[tap] = __ldg(weights.table + ((9 * dz + tap) * CODEWORDS + code) * WIDE_PIECES +
                               piece);
            }
#pragma unroll
            for (int tap = 0; tap < 9; tap++)
                sum = make_float4(sum.x + v[tap].x, sum.y + v[tap].y, sum.z + v[tap].z,
                                  sum.w + v[tap].w);
        }
        x[place<NET_WIDE>(voxel, piece)] = sum;
    }
}

/* The place of four voxels of a row at 8^3, in pieces: the halves of rows 4 to 7 are exchanged, so
 * that eight threads read from all banks. */
static __device__ __forceinline__ int large_place(int leaf, int channel, int z, int y, int half)
{
    return ((leaf * PASS_CHANNELS + channel) * 64 + z * 8 + y) * 2 + (half ^ (y >> 2 & 1));
}

/* Store the sums of a pass as the pixel shuffle places them: two channels become two voxels. */
static __device__ __forceinline__ void store_shuffled(float4 *large, const struct quarter &mine,
                                                      int first, const float sum[4][4][4],
                                                      const float *bias)
{
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const float2 add = *(const float2 *)(bias + 8 * (first + n) + 2 * q);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int cell = mine.cell(c / 2, c % 2), leaf = g / 4 + 2 * half, x = g % 4;
                const int z = cell / 4 * 2 + q / 2, y = cell % 4 * 2 + q % 2;
                float2 *to = (float2 *)(large + large_place(leaf, first + n, z, y, x / 2)) + x % 2;
                *to = make_float2(sum[c][n][2 * half] + add.x, sum[c][n][2 * half + 1] + add.y);
            }
        }
}

/* Add the pass's channels to the last convolution, for the thread's row of eight voxels. */
static __device__ __forceinline__ void add_last(const struct decode_memory *memory, int pass,
                                                float sum[8])
{
    const int leaf = threadIdx.x / 64, at_z = threadIdx.x / 8 % 8, at_y = threadIdx.x % 8;
    for (int channel = 0; channel < PASS_CHANNELS; channel++) {
        float w[LAST_TAPS];
#pragma unroll
        for (int i = 0; i < LAST_TAPS / 4; i++)
            *(float4 *)(w + 4 * i) =
                memory->last[(pass * PASS_CHANNELS + channel) * (LAST_TAPS / 4) + i];
#pragma unroll
        for (int tap = 0; tap < 9; tap++) {
            const int z = at_z + tap / 3 - 1, y = at_y + tap % 3 - 1;
            if ((unsigned)z >= 8u || (unsigned)y >= 8u) continue;
            float row[10];
            row[0] = row[9] = 0.0f;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const float4 v = memory->t[large_place(leaf, channel, z, y, half)];
                row[4 * half + 1] = v.x;
                row[4 * half + 2] = v.y;
                row[4 * half + 3] = v.z;
                row[4 * half + 4] = v.w;
            }
#pragma unroll
            for (int dx = 0; dx < 3; dx++)
#pragma unroll
                for (int x = 0; x < 8; x++)
                    sum[x] = fmaf(row[x + dx], w[3 * tap + dx], sum[x]);
        }
    }
}

static __device__ __forceinline__ float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* Each block of the team has a part of every sum. Add the parts for the block's voxels, those of
 * SMALL_LEAVES / SIZE leaves, a run of `EACH` per thread, and write them to the leaves. */
template <class Team>
static __device__ __forceinline__ void store_leaves(const Team &team, float4 *x, const float out[8],
                                                    float *__restrict__ leaves_out, int64_t first,
                                                    int64_t leaves)
{
    enum { EACH = 8 / Team::SIZE, VOXELS = SMALL_LEAVES * LEAF_VOXELS / Team::SIZE };
    float *parts = (float *)x;
    float4 *mine = (float4 *)(parts + threadIdx.x * 8);
    mine[0] = make_float4(out[0], out[1], out[2], out[3]);
    mine[1] = make_float4(out[4], out[5], out[6], out[7]);
    team.wait();
    const int at = team.rank() * VOXELS + threadIdx.x * EACH;
    float sum[EACH] = {};
    for (int block = 0; block < Team::SIZE; block++) {
        const float *part = team.of(parts, block) + at;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            sum[i] += part[i];
    }
    if (first + at / LEAF_VOXELS < leaves)
#pragma unroll
        for (int i = 0; i < EACH; i += 2)
            *(float2 *)(leaves_out + first * LEAF_VOXELS + at + i) =
                make_float2(sigmoid(sum[i]), sigmoid(sum[i + 1]));
    team.wait(); /* the memory of a block that has ended must not be read */
}

template <class Team>
static __device__ __forceinline__ void decode_leaves(const Team &team, struct decode_memory *memory,
                                                     float4 *x,
                                                     const struct decode_weights &weights,
                                                     const uint8_t *__restrict__ codes,
                                                     float *__restrict__ leaves_out, int64_t leaves)
{
    enum { PIECES = WIDE_PIECES / Team::SIZE, SHARE = PASSES / Team::SIZE };
    enum { GROUPS = NET_DECODER_GROUPS / Team::SIZE };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rank = team.rank();
    const int64_t first_leaf = (int64_t)(blockIdx.x / Team::SIZE) * SMALL_LEAVES;
    const int64_t code = first_leaf * LEAF_VECTORS + threadIdx.x;

    team.begin();
    /* Leaves after the last are decoded from zeros and not written. */
    memory->codes[threadIdx.x] = code < leaves * LEAF_VECTORS ? codes[code] : 0;
    for (int i = threadIdx.x; i < LAST_NUMBERS; i += NET_THREADS)
        ((float *)memory->last)[i] =
            i % LAST_TAPS < 27 ? weights.last[i % LAST_TAPS * NET_SHUFFLED + i / LAST_TAPS] : 0.0f;
    __syncthreads();
    widen<PIECES>(memory, x, weights, rank * PIECES);
    __syncthreads();
    /* Unrounded: it is also what the residual block adds to. */
    norm_small<NET_WIDE, GROUPS, false>(x, x, weights.norm, rank * GROUPS);
    team.wait_begun();
    residual_small<NET_WIDE>(team, x, memory->t, weights.residual);
    attend<NET_WIDE, true>(x, memory->scratch, weights.attention);

    const struct quarter mine(warp);
    const int tile = warp / 4 * 4;
    float out[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] = rank == 0 ? weights.last_bias[0] : 0.0f;
#pragma unroll 1
    for (int pass = rank * SHARE; pass < (rank + 1) * SHARE; pass++) {
        float sum[4][4][4];
        clear<4, 4>(sum);
        conv_quarter<NET_WIDE, 4>(x, weights.expand + (pass * PASS_TILES + tile) * 32 + lane,
                                  NET_EXPANDED / 8, mine, sum);
        __syncthreads(); /* the last pass has been read */
        store_shuffled(memory->t, mine, tile, sum, weights.expand_bias + pass * 8 * PASS_TILES);
        __syncthreads();
        add_last(memory, pass, out);
    }
    store_leaves(team, x, out, leaves_out, first_leaf, leaves);
}

extern __shared__ float4 decode_shared[];

template <bool OUTSIDE>
static __global__ void __launch_bounds__(NET_THREADS, 1)
    decode(const __grid_constant__ struct decode_weights weights,
           const __grid_constant__ struct fused_outside outside, const uint8_t *__restrict__ codes,
           float *__restrict__ leaves_out, int64_t leaves)
{
    float4 *x = decode_shared;
    struct decode_memory *memory =
        (struct decode_memory *)(decode_shared + (OUTSIDE ? 0 : WIDE_X_BYTES / 16));
    if (OUTSIDE) x = outside_take(outside, &memory->slot);
    decode_leaves(team_alone(), memory, x, weights, codes, leaves_out, leaves);
    if (OUTSIDE) outside_leave(outside, memory->slot);
}

/* Launched as clusters of BLOCKS. */
template <int BLOCKS>
static __global__ void __launch_bounds__(NET_THREADS, 1)
    decode_shared_out(const __grid_constant__ struct decode_weights weights,
                      const uint8_t *__restrict__ codes, float *__restrict__ leaves_out,
                      int64_t leaves)
{
#if __CUDA_ARCH__ >= 900
    decode_leaves(team_cluster<BLOCKS>(),
                  (struct decode_memory *)(decode_shared + WIDE_X_BYTES / 16), decode_shared,
                  weights, codes, leaves_out, leaves);
#else
    __trap(); /* launched by code for sm_90 and later alone */
#endif
}

/* ---------------------------------------------------------------- launch -- */

int64_t fused_decode_shared_bytes(bool outside)
{
    return (int64_t)sizeof(struct decode_memory) + (outside ? 0 : WIDE_X_BYTES);
}

int fused_prepare_decode(bool outside)
{
    const int64_t bytes = fused_decode_shared_bytes(outside);
    if (outside) return cuda_allow_shared((const void *)decode<true>, bytes);
    if (cuda_allow_shared((const void *)decode<false>, bytes)) return -1;
    if (cuda_allow_shared((const void *)decode_shared_out<2>, bytes)) return -1;
    return cuda_allow_shared((const void *)decode_shared_out<4>, bytes);
}

typedef void decode_kernel(const struct decode_weights weights, const struct fused_outside outside,
                           const uint8_t *codes, float *leaves_out, int64_t leaves);

template <int BLOCKS>
static int decode_by_clusters(const struct decode_weights &weights, const uint8_t *codes,
                              float *leaves_out, int64_t leaves, unsigned clusters,
                              cudaStream_t stream)
{
    struct cluster_launch launch(BLOCKS, dim3(clusters * BLOCKS), NET_THREADS,
                                 (size_t)fused_decode_shared_bytes(false), stream);
    return assay_cuda(cudaLaunchKernelEx(&launch.config, decode_shared_out<BLOCKS>, weights, codes,
                                         leaves_out, leaves),
                      "launch");
}

int fused_decode(const struct fused_decoder *weights, const struct fused_outside *outside,
                 const uint8_t *codes, float *leaves_out, int64_t leaves, int blocks_at_once,
                 cudaStream_t stream)
{
    const struct decode_weights all = {(const float4 *)weights->table,
                                       (const float4 *)weights->widen_bias,
                                       norm_of(&weights->norm),
                                       residual_of(&weights->residual),
                                       attention_of(&weights->attention),
                                       (const uint4 *)weights->expand.weight,
                                       weights->expand.bias,
                                       weights->last.weight,
                                       weights->last.bias};
    const int64_t blocks = (leaves + SMALL_LEAVES - 1) / SMALL_LEAVES;
    if (4 * blocks <= blocks_at_once)
        return decode_by_clusters<4>(all, codes, leaves_out, leaves, (unsigned)blocks, stream);
    if (2 * blocks <= blocks_at_once)
        return decode_by_clusters<2>(all, codes, leaves_out, leaves, (unsigned)blocks, stream);
    const bool is_outside = outside->slots > 0;
    const size_t bytes = (size_t)fused_decode_shared_bytes(is_outside);
    decode_kernel *kernel = is_outside ? decode<true> : decode<false>;
    kernel<<<(unsigned)blocks, NET_THREADS, bytes, stream>>>(all, *outside, codes, leaves_out,
                                                             leaves);
    return assay_launched();
}
