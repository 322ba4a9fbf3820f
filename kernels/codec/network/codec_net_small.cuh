/*
 * codec_net_small.cuh - what encoder and decoder share at 4^3, on four leaves in shared memory
 * (codec_net_tile.cuh): convolution, norm, attention, residual block.
 */
#pragma once

#include "codec_net_team.cuh"

/* -------------------------------------------------------------- convolution -- */

/* A quarter of the cells at 4^3, the 2 x 2 at a corner: seen from the corner, all four
 * have the same work. Local cell (i, j) counts from the corner along z and y. */
struct quarter {
    int first, along_z, along_y; /* cells */
    int tap_z, tap_y;            /* taps that a step away from the corner is */

    __device__ __forceinline__ quarter(int corner)
    {
        const bool far_z = corner / 2 % 2, far_y = corner % 2;
        first = (far_z ? 12 : 0) + (far_y ? 3 : 0);
        along_z = far_z ? -4 : 4;
        along_y = far_y ? -1 : 1;
        tap_z = far_z ? -9 : 9;
        tap_y = far_y ? -3 : 3;
    }

    /* i, j in 0 to 2; 0 and 1 are results. */
    __device__ __forceinline__ int cell(int i, int j) const
    {
        return first + i * along_z + j * along_y;
    }

    /* The offset of tap 3 (dz + 1) + dy + 1, seen from the corner, from the middle tap. */
    __device__ __forceinline__ int tap(int turn) const
    {
        return (turn / 3 - 1) * tap_z + (turn % 3 - 1) * tap_y;
    }
};

/* The nine taps along z and y in the order of use, 3 (dz + 1) + dy + 1 seen from the corner.
 * They have 4, 2, 4, 2, 4, 2, 4, 2 and 1 products per tile: two in a row always take long
 * enough for the weights of the next tap to arrive. */
static __device__ __forceinline__ constexpr int tap_in_turn(int turn)
{
    constexpr int order[9] = {4, 1, 5, 2, 7, 3, 8, 6, 0};
    return order[turn];
}

/*
 * sum[2 i + j] += conv3 of local cell (i, j), TILES times 8 channels of result. `weights`
 * is packed (codec_pack.h), offset by the first of the TILES and by the lane; `all_tiles`
 * is how many the convolution has. The nine input cells of a quarter are held in
 * registers for all taps along z and y. Weights are loaded two taps ahead: one tap is
 * shorter than the latency of L2. Three buffers take turns, and nine taps are three rounds.
 */
template <int CHANNELS, int TILES>
static __device__ __forceinline__ void conv_quarter(const float4 *tile,
                                                    const uint4 *__restrict__ weights,
                                                    int all_tiles, const struct quarter &mine,
                                                    float sum[4][TILES][4])
{
    enum { STEPS = CHANNELS / 16, AHEAD = 2, BUFFERS = AHEAD + 1 };
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const int tap_words = STEPS * all_tiles * 32;
    const uint4 *now = weights + 12 * tap_words;
    uint4 b[BUFFERS][TILES];
#pragma unroll
    for (int turn = 0; turn < AHEAD; turn++)
        load_weights<TILES>(b[turn], now + mine.tap(tap_in_turn(turn)) * tap_words);
#pragma unroll 1
    for (int step = 0; step < 3 * STEPS; step++) {
        const int dx = step / STEPS, p = step % STEPS, x = g % 4 + dx - 1;
        const bool inside = (unsigned)x < 4u;
        const int row = inside ? g + dx - 1 : g;
        const uint32_t mask = inside ? 0xffffffffu : 0;
        const int following = step + 1 < 3 * STEPS ? step + 1 : step;
        const uint4 *next =
            weights + (12 + following / STEPS) * tap_words + (following % STEPS) * all_tiles * 32;
        struct fragments a[9];
#pragma unroll
        for (int cell = 0; cell < 9; cell++) {
            const int voxel = 16 * mine.cell(cell / 3, cell % 3) + row;
            a[cell].load(tile[place<CHANNELS>(voxel, 4 * p + q)],
                         tile[place<CHANNELS>(voxel + 8, 4 * p + q)], mask);
        }
#pragma unroll
        for (int turn = 0; turn < 9; turn++) {
            const int dz = tap_in_turn(turn) / 3 - 1, dy = tap_in_turn(turn) % 3 - 1;
            const uint4 *ahead = turn + AHEAD < 9 ? now : next;
            load_weights<TILES>(b[(turn + AHEAD) % BUFFERS],
                                ahead + mine.tap(tap_in_turn((turn + AHEAD) % 9)) * tap_words);
#pragma unroll
            for (int half = 0; half < 2; half++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        if (i + dz < 0 || j + dy < 0) continue;
#pragma unroll
                        for (int t = 0; t < TILES; t++)
                            half_product(sum[2 * i + j][t], a[3 * (i + dz) + j + dy],
                                         b[turn % BUFFERS][t], half);
                    }
        }
        now = next;
    }
}

/* -------------------------------------------------------------------- norm -- */

/* At 4^3, eight channels per group: `to` = tf32(relu(norm(from))), unrounded without ROUND,
 * of the GROUPS groups from `first` on. A warp takes whole groups, so `to` may be `from`. */
template <int CHANNELS, int GROUPS, bool ROUND>
static __device__ __forceinline__ void norm_small(const float4 *from, float4 *to,
                                                  struct norm_weights weights, int first)
{
    enum { EACH = SMALL_LEAVES * GROUPS / NET_WARPS };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int leaf = (warp * EACH + i) / GROUPS, group = first + (warp * EACH + i) % GROUPS;
        const int piece = 2 * group + lane % 2;
        float4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = from[place<CHANNELS>(16 * (4 * k + lane / 8) + 4 * leaf + lane / 2 % 4, piece)];
        norm_relu<4>(v, weights.gamma[piece], weights.beta[piece]);
#pragma unroll
        for (int k = 0; k < 4; k++)
            to[place<CHANNELS>(16 * (4 * k + lane / 8) + 4 * leaf + lane / 2 % 4, piece)] =
                ROUND ? rounded(v[k]) : v[k];
    }
}

/* --------------------------------------------------------------- attention -- */

struct attention_weights {
    const float *squeeze, *squeeze_bias, *excite, *excite_bias;
};

/* Channel `channel` of voxel v of `leaf`, at 4^3. */
template <int CHANNELS>
static __device__ __forceinline__ float *number_at(float4 *x, int leaf, int v, int channel)
{
    return (float *)(x + place<CHANNELS>(v / 4 * 16 + 4 * leaf + v % 4, channel / 4)) + channel % 4;
}

/* x *= its channel's factor, at 4^3. A thread has one channel of a leaf; with fewer channels than
 * threads, some threads are idle. `scratch` is 2 * SMALL_LEAVES * CHANNELS floats.
 * Ends with a barrier. */
template <int CHANNELS, bool ROUND>
static __device__ __forceinline__ void attend(float4 *x, float *scratch,
                                              const struct attention_weights &weights)
{
    enum {
        HIDDEN = CHANNELS / NET_SQUEEZE,
        PARTS = NET_THREADS / (SMALL_LEAVES * HIDDEN), /* threads a hidden number */
        AT_ONCE = 16,                                  /* voxels in flight */
    };
    float *mean = scratch, *hidden = scratch + SMALL_LEAVES * CHANNELS;
    const int leaf = threadIdx.x / CHANNELS, channel = threadIdx.x % CHANNELS;
    const bool busy = leaf < SMALL_LEAVES;
    float sum = 0.0f;
    for (int v = 0; busy && v < LEAF_VECTORS; v += AT_ONCE)
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            sum += *number_at<CHANNELS>(x, leaf, v + i, channel);
    if (busy) mean[threadIdx.x] = sum / (float)LEAF_VECTORS;
    __syncthreads();
    const int of = threadIdx.x / PARTS / HIDDEN, h = threadIdx.x / PARTS % HIDDEN;
    const int part = threadIdx.x % PARTS;
    float value = part ? 0.0f : weights.squeeze_bias[h];
#pragma unroll
    for (int c = 0; c < CHANNELS; c += PARTS)
        value =
            fmaf(mean[of * CHANNELS + c + part], weights.squeeze[(c + part) * HIDDEN + h], value);
#pragma unroll
    for (int mask = PARTS / 2; mask > 0; mask /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    if (part == 0) hidden[of * HIDDEN + h] = fmaxf(value, 0.0f);
    __syncthreads();
    if (busy) {
        value = weights.excite_bias[channel];
#pragma unroll
        for (int i = 0; i < HIDDEN; i++)
            value = fmaf(hidden[leaf * HIDDEN + i], weights.excite[i * CHANNELS + channel], value);
        const float factor = 1.0f / (1.0f + expf(-value));
        for (int v = 0; v < LEAF_VECTORS; v += AT_ONCE) {
            float number[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                number[i] = factor * *number_at<CHANNELS>(x, leaf, v + i, channel);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                *number_at<CHANNELS>(x, leaf, v + i, channel) =
                    ROUND ? round_tf32(number[i]) : number[i];
        }
    }
    __syncthreads();
}

/* ---------------------------------------------------------------- residual -- */

struct residual_weights {
    struct norm_weights norm[2];
    const uint4 *conv[2];
    const float *bias[2];
};

/*
 * x += 0.1 conv3(relu(norm(conv3(relu(norm(x)))))) at 4^3; `t` is as large as x. Begins with
 * a barrier of the block, ends with one of the team; by then all of its blocks have begun.
 *
 * A team is the block alone, or a cluster of SIZE blocks with the same leaves: each makes
 * its share of the channels, in x and t, and t goes to all before it is convolved. A
 * warp has a quarter of the cells and half of the block's channels.
 */
template <int CHANNELS, class Team>
static __device__ __forceinline__ void residual_small(const Team &team, float4 *x, float4 *t,
                                                      const struct residual_weights &weights)
{
    enum { TILES = CHANNELS / 16 / Team::SIZE, GROUPS = CHANNELS / 8 / Team::SIZE };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const struct quarter mine(warp);
    const int first = (2 * team.rank() + warp / 4) * TILES; /* tile of eight channels */
    float sum[4][TILES][4];
    __syncthreads();
    norm_small<CHANNELS, GROUPS, true>(x, t, weights.norm[0], team.rank() * GROUPS);
#pragma unroll 1
    for (int conv = 0; conv < 2; conv++) {
        team.template spread<CHANNELS>(t);
        clear<4, TILES>(sum);
        conv_quarter<CHANNELS, TILES>(t, weights.conv[conv] + first * 32 + lane, CHANNELS / 8, mine,
                                      sum);
        team.wait(); /* t has been read, here and where it will be written from here */
#pragma unroll
        for (int c = 0; c < 4; c++)
#pragma unroll
            for (int n = 0; n < TILES; n++) {
                const int channel = 8 * (first + n) + 2 * q;
                const float2 bias = *(const float2 *)(weights.bias[conv] + channel);
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int voxel = 16 * mine.cell(c / 2, c % 2) + g + 8 * half;
                    const float2 value =
                        make_float2(sum[c][n][2 * half] + bias.x, sum[c][n][2 * half + 1] + bias.y);
                    if (conv == 0) {
                        *pair_at<CHANNELS>(t, voxel, channel) = value;
                    } else {
                        float2 *to = pair_at<CHANNELS>(x, voxel, channel);
                        *to = make_float2(fmaf(NET_RESIDUAL_SCALE, value.x, to->x),
                                          fmaf(NET_RESIDUAL_SCALE, value.y, to->y));
                    }
                }
            }
        __syncthreads();
        if (conv == 0)
            norm_small<CHANNELS, GROUPS, true>(t, t, weights.norm[1], team.rank() * GROUPS);
    }
    team.template spread<CHANNELS>(x);
}

/* ----------------------------------------------------------------- weights -- */

static struct residual_weights residual_of(const struct fused_residual *block)
{
    return {{norm_of(&block->norm[0]), norm_of(&block->norm[1])},
            {(const uint4 *)block->conv[0].weight, (const uint4 *)block->conv[1].weight},
            {block->conv[0].bias, block->conv[1].bias}};
}

static struct attention_weights attention_of(const struct fused_attention *attention)
{
    return {attention->squeeze.weight, attention->squeeze.bias, attention->excite.weight,
            attention->excite.bias};
}
