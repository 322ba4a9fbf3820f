/*
 * codec_net_encode_large.cu - the encoder's first kernel: a block takes two leaves through all
 * layers at 8^3 and the convolution down to 4^3.
 *
 * Bytes per leaf: 2048 read, 8192 written for codec_net_encode_small.cu, which stay in L2 up to
 * about 3000 leaves. Operations: 18.8 M; 16 % of the residual block's 14.2 M would be on zeros of
 * the border and are left out. Operands of convolutions are tf32.
 */
#include "codec_net_tile.cuh"
#include "kernels/cuda/cuda_limits.h"

constexpr int EDGE = LEAF_EDGE + 2, PLANE = EDGE * EDGE, BORDERED = EDGE * PLANE;
constexpr int STEM_PIECES = (int)NET_STEM / 4;

struct large_weights {
    const uint4 *stem, *conv[2], *down;
    const float *stem_bias, *bias[2], *down_bias;
    struct norm_weights stem_norm, norm[2];
};

struct large_memory {
    float4 t[LARGE_VOXELS * STEM_PIECES]; /* and sums of parts of the last convolution */
    float input[LARGE_LEAVES * BORDERED]; /* with a border of zeros */
    int slot;
};

/* x, the residual stream, is in front of it in shared memory, unless it is outside. */
constexpr int LARGE_X_BYTES = LARGE_VOXELS * STEM_PIECES * 16;
static_assert(LARGE_X_BYTES == FUSED_SLOT_BYTES);

static __device__ __forceinline__ void load_leaves(float *input, const float *__restrict__ from,
                                                   int64_t first, int64_t leaves)
{
    for (int i = threadIdx.x; i < LARGE_LEAVES * BORDERED; i += NET_THREADS)
        input[i] = 0.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < LARGE_VOXELS; i += NET_THREADS) {
        const int leaf = i / LEAF_VOXELS, x = i % 8, y = i / 8 % 8, z = i / 64 % 8;
        if (first + leaf < leaves)
            input[leaf * BORDERED + (z + 1) * PLANE + (y + 1) * EDGE + x + 1] =
                from[first * LEAF_VOXELS + i];
    }
    __syncthreads();
}

/* x = conv3 of the input: the 27 taps are the channels of one product. A warp has a z. */
static __device__ __forceinline__ void stem(const struct large_memory *memory, float4 *x,
                                            const struct large_weights &weights)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    int offset[2][4];
    uint4 b[2][2];
#pragma unroll
    for (int p = 0; p < 2; p++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int tap = min(16 * p + 4 * q + j, 26);
            offset[p][j] = tap / 9 * PLANE + tap / 3 % 3 * EDGE + tap % 3 + g;
        }
#pragma unroll
        for (int t = 0; t < 2; t++)
            b[p][t] = __ldg(weights.stem + (p * 2 + t) * 32 + lane);
    }
    for (int y = 0; y < 8; y++) {
        float sum[2][4] = {};
        struct fragments a[2];
#pragma unroll
        for (int p = 0; p < 2; p++)
#pragma unroll
            for (int leaf = 0; leaf < 2; leaf++) {
                const float *from = memory->input + leaf * BORDERED + warp * PLANE + y * EDGE;
#pragma unroll
                for (int j = 0; j < 4; j++)
                    a[p].of[j / 2][j % 2 * 2 + leaf] = mma_tf32(from[offset[p][j]]);
            }
#pragma unroll
        for (int p = 0; p < 2; p++)
#pragma unroll
            for (int half = 0; half < 2; half++)
#pragma unroll
                for (int t = 0; t < 2; t++)
                    half_product(sum[t], a[p], b[p][t], half);
#pragma unroll
        for (int t = 0; t < 2; t++) {
            const float2 bias = *(const float2 *)(weights.stem_bias + 8 * t + 2 * q);
#pragma unroll
            for (int leaf = 0; leaf < 2; leaf++)
                *pair_at<NET_STEM>(x, (8 * warp + y) * 16 + 8 * leaf + g, 8 * t + 2 * q) =
                    make_float2(sum[t][2 * leaf] + bias.x, sum[t][2 * leaf + 1] + bias.y);
        }
    }
}

/* One warp per group of a leaf: four channels, which are one piece of each voxel. */
struct large_group {
    int piece, voxel; /* the lane's first; then every 64th */

    __device__ __forceinline__ large_group()
    {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        piece = warp % NET_ENCODER_GROUPS;
        voxel = lane / 8 * 16 + warp / NET_ENCODER_GROUPS * 8 + lane % 8;
    }

    __device__ __forceinline__ int at(int i) const
    {
        return place<NET_STEM>(voxel + 64 * i, piece);
    }

    __device__ __forceinline__ void load(float4 v[16], const float4 *from) const
    {
#pragma unroll
        for (int i = 0; i < 16; i++)
            v[i] = from[at(i)];
    }

    __device__ __forceinline__ void store_rounded(float4 *to, const float4 v[16]) const
    {
#pragma unroll
        for (int i = 0; i < 16; i++)
            to[at(i)] = rounded(v[i]);
    }
};

/* x = relu(norm(x)), t = tf32(relu(norm(x))): both norms have the same groups. */
static __device__ __forceinline__ void two_norms(float4 *x, float4 *t, struct norm_weights first,
                                                 struct norm_weights second)
{
    const struct large_group mine;
    float4 v[16];
    mine.load(v, x);
    norm_relu<16>(v, first.gamma[mine.piece], first.beta[mine.piece]);
#pragma unroll
    for (int i = 0; i < 16; i++)
        x[mine.at(i)] = v[i];
    norm_relu<16>(v, second.gamma[mine.piece], second.beta[mine.piece]);
    mine.store_rounded(t, v);
}

static __device__ __forceinline__ void one_norm(float4 *t, struct norm_weights weights)
{
    const struct large_group mine;
    float4 v[16];
    mine.load(v, t);
    norm_relu<16>(v, weights.gamma[mine.piece], weights.beta[mine.piece]);
    mine.store_rounded(t, v);
}

/* An eighth of the cells at 8^3: two along z, and four along y counted from an edge. Inner and
 * outer pieces share a tensor core, since outer pieces need fewer products. */
struct eighth {
    int first_z;
    bool far_y;

    __device__ __forceinline__ eighth(int warp)
    {
        first_z = 2 * (warp < 4 ? warp : (warp ^ 1) - 4);
        far_y = warp >= 4;
    }

    __device__ __forceinline__ int y(int j) const
    {
        return far_y ? 7 - j : j;
    }

    /* i in 0, 1; j in 0 to 3. */
    __device__ __forceinline__ int cell(int i, int j) const
    {
        return 8 * (first_z + i) + y(j);
    }
};

/* sum[4 i + j] += conv3 of cell (i, j). The weights of nine taps are held in registers, and
 * each row of the input is loaded once for them. */
static __device__ __forceinline__ void conv_eighth(const float4 *tile,
                                                   const uint4 *__restrict__ weights,
                                                   const struct eighth &mine, float sum[8][2][4])
{
    const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
#pragma unroll 1
    for (int dx = 0; dx < 3; dx++) {
        const bool inside = (unsigned)(g + dx - 1) < 8u;
        const int row = inside ? g + dx - 1 : g;
        const uint32_t mask = inside ? 0xffffffffu : 0;
        uint4 b[3][3][2]; /* [tap along z][along y, from the edge][tile] */
#pragma unroll
        for (int dz = 0; dz < 3; dz++)
#pragma unroll
            for (int dy = 0; dy < 3; dy++) {
                const int tap = 9 * dz + 3 * (mine.far_y ? 2 - dy : dy) + dx;
#pragma unroll
                for (int t = 0; t < 2; t++)
                    b[dz][dy][t] = __ldg(weights + (2 * tap + t) * 32 + lane);
            }
#pragma unroll
        for (int from_z = -1; from_z < 3; from_z++) {
            if ((unsigned)(mine.first_z + from_z) >= 8u) continue;
#pragma unroll
            for (int from_y = 0; from_y < 5; from_y++) {
                struct fragments a;
                const int voxel = 16 * mine.cell(from_z, from_y) + row;
                a.load(tile[place<NET_STEM>(voxel, q)], tile[place<NET_STEM>(voxel + 8, q)], mask);
#pragma unroll
                for (int half = 0; half < 2; half++)
#pragma unroll
                    for (int i = 0; i < 2; i++)
#pragma unroll
                        for (int j = 0; j < 4; j++) {
                            const int dz = from_z - i + 1, dy = from_y - j + 1;
                            if (dz < 0 || dz > 2 || dy < 0 || dy > 2) continue;
#pragma unroll
                            for (int t = 0; t < 2; t++)
                                half_product(sum[4 * i + j][t], a, b[dz][dy][t], half);
                        }
            }
        }
    }
}

/* The residual block's two convolutions; t arrives normalised, x leaves rounded. */
static __device__ __forceinline__ void residual_large(struct large_memory *memory, float4 *x,
                                                      const struct large_weights &weights)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const struct eighth mine(warp);
    float sum[8][2][4];
#pragma unroll 1
    for (int conv = 0; conv < 2; conv++) {
        __syncthreads();
        clear<8, 2>(sum);
        conv_eighth(memory->t, weights.conv[conv], mine, sum);
        __syncthreads();
#pragma unroll
        for (int c = 0; c < 8; c++)
#pragma unroll
            for (int t = 0; t < 2; t++) {
                const int channel = 8 * t + 2 * q;
                const float2 bias = *(const float2 *)(weights.bias[conv] + channel);
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int voxel = 16 * mine.cell(c / 4, c % 4) + 8 * half + g;
                    const float2 value =
                        make_float2(sum[c][t][2 * half] + bias.x, sum[c][t][2 * half + 1] + bias.y);
                    if (conv == 0) {
                        *pair_at<NET_STEM>(memory->t, voxel, channel) = value;
                    } else {
                        float2 *to = pair_at<NET_STEM>(x, voxel, channel);
                        *to = make_float2(round_tf32(fmaf(NET_RESIDUAL_SCALE, value.x, to->x)),
                                          round_tf32(fmaf(NET_RESIDUAL_SCALE, value.y, to->y)));
                    }
                }
            }
        __syncthreads();
        if (conv == 0) one_norm(memory->t, weights.norm[1]);
    }
}

/* sum[2 i + j]: 16 rows of the result are row 4 y' + x of two y of z = 2 group + i, y =
 * 2 j + y', of one leaf, then of the other. A warp has the 16 taps of one dz. */
static __device__ __forceinline__ void conv_down(const float4 *tile,
                                                 const uint4 *__restrict__ weights, int dz,
                                                 int group, float sum[4][4][4])
{
    enum { TILES = NET_DOWN / 8 };
    const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const uint4 *from = weights + dz * 16 * TILES * 32 + lane;
#pragma unroll 1
    for (int tap = 0; tap < 16; tap++, from += TILES * 32) {
        uint4 b[TILES];
        load_weights<TILES>(b, from);
        const int x = 2 * (g % 4) + tap % 4 - 1;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const int z = 2 * (2 * group + c / 2) + dz - 1;
            const int y = 2 * (2 * (c % 2) + g / 4) + tap / 4 - 1;
            if ((unsigned)z >= 8u) continue;
            const bool inside = (unsigned)x < 8u && (unsigned)y < 8u;
            struct fragments a;
            const int voxel = inside ? 16 * (8 * z + y) + x : 0;
            a.load(tile[place<NET_STEM>(voxel, q)], tile[place<NET_STEM>(voxel + 8, q)],
                   inside ? 0xffffffffu : 0);
#pragma unroll
            for (int half = 0; half < 2; half++)
#pragma unroll
                for (int t = 0; t < TILES; t++)
                    half_product(sum[c][t], a, b[t], half);
        }
    }
}

/* Convolution down, and the sum of its four parts along dz to memory as [voxel][channel]. */
static __device__ __forceinline__ void down(struct large_memory *memory, const float4 *x,
                                            const struct large_weights &weights, float *to,
                                            int64_t first, int64_t leaves)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum[4][4][4];
    clear<4, 4>(sum);
    conv_down(x, weights.down, warp / 2, warp % 2, sum);
#pragma unroll
    for (int i = 0; i < 16; i++)
        memory->t[(warp * 16 + i) * 32 + lane] = *(const float4 *)sum[i / 4][i % 4];
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * 16 * 32; i += NET_THREADS) {
        const int group = i / 512, c = i / 128 % 4, t = i / 32 % 4, g = lane / 4, q = lane % 4;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int dz = 0; dz < 4; dz++) {
            const float4 part = memory->t[((2 * dz + group) * 16 + 4 * c + t) * 32 + lane];
            v = make_float4(v.x + part.x, v.y + part.y, v.z + part.z, v.w + part.w);
        }
        const int channel = 8 * t + 2 * q;
        const int voxel = 16 * (2 * group + c / 2) + 4 * (2 * (c % 2) + g / 4) + g % 4;
        const float2 bias = *(const float2 *)(weights.down_bias + channel);
        float *at = to + (first * LEAF_VECTORS + voxel) * NET_DOWN + channel;
        if (first < leaves) *(float2 *)at = make_float2(v.x + bias.x, v.y + bias.y);
        if (first + 1 < leaves)
            *(float2 *)(at + LEAF_VECTORS * NET_DOWN) = make_float2(v.z + bias.x, v.w + bias.y);
    }
}

template <bool OUTSIDE>
static __global__ void __launch_bounds__(NET_THREADS, 1)
    encode_large(const __grid_constant__ struct large_weights weights,
                 const __grid_constant__ struct fused_outside outside,
                 const float *__restrict__ leaves_in, float *__restrict__ to, int64_t leaves)
{
    extern __shared__ float4 large_shared[];
    float4 *x = large_shared;
    struct large_memory *memory =
        (struct large_memory *)(large_shared + (OUTSIDE ? 0 : LARGE_X_BYTES / 16));
    if (OUTSIDE) x = outside_take(outside, &memory->slot);
    const int64_t first = (int64_t)blockIdx.x * LARGE_LEAVES;
    load_leaves(memory->input, leaves_in, first, leaves);
    stem(memory, x, weights);
    __syncthreads();
    two_norms(x, memory->t, weights.stem_norm, weights.norm[0]);
    residual_large(memory, x, weights);
    down(memory, x, weights, to, first, leaves);
    if (OUTSIDE) outside_leave(outside, memory->slot);
}

/* ---------------------------------------------------------------- launch -- */

static struct large_weights large_of(const struct fused_encoder *weights)
{
    const struct fused_residual *block = &weights->stem_residual;
    return {(const uint4 *)weights->stem.weight,
            {(const uint4 *)block->conv[0].weight, (const uint4 *)block->conv[1].weight},
            (const uint4 *)weights->down.weight,
            weights->stem.bias,
            {block->conv[0].bias, block->conv[1].bias},
            weights->down.bias,
            norm_of(&weights->stem_norm),
            {norm_of(&block->norm[0]), norm_of(&block->norm[1])}};
}

int64_t fused_encode_shared_bytes(bool outside)
{
    return (int64_t)sizeof(struct large_memory) + (outside ? 0 : LARGE_X_BYTES);
}

typedef void large_kernel(const struct large_weights weights, const struct fused_outside outside,
                          const float *leaves_in, float *to, int64_t leaves);

static large_kernel *kernel_of(bool outside)
{
    return outside ? encode_large<true> : encode_large<false>;
}

int fused_prepare_encode_large(bool outside)
{
    return cuda_allow_shared((const void *)kernel_of(outside), fused_encode_shared_bytes(outside));
}

int fused_encode_large(const struct fused_encoder *weights, const struct fused_outside *outside,
                       const float *leaves_in, float *to, int64_t leaves, cudaStream_t stream)
{
    const size_t bytes = (size_t)fused_encode_shared_bytes(outside->slots > 0);
    const unsigned blocks = (unsigned)((leaves + LARGE_LEAVES - 1) / LARGE_LEAVES);
    kernel_of(outside->slots > 0)<<<blocks, NET_THREADS, bytes, stream>>>(
        large_of(weights), *outside, leaves_in, to, leaves);
    return assay_launched();
}
