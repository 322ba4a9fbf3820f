/*
 * codec_net_tile.cuh - convolution and norm of leaves that lie in shared memory, for the
 * fused encoder and decoder. 256 threads a block.
 *
 * At 4^3 a block works on four leaves, at 8^3 on two. A cell is one (z, y): 16 rows of
 * the product, at 4^3 row 4 l + x of leaf l, at 8^3 row 8 l + x. So all rows of a cell
 * are inside or outside the leaf together when a tap shifts them along z or y, and
 * products with the border are left out: at 4^3 100 of 144 remain, at 8^3 484 of 576.
 * A shift along x moves the rows of a cell by one; rows that leave their leaf are zero.
 *
 * A voxel's channels lie in a row, in pieces of four that are permuted from voxel to voxel
 * so that loads of A (16 bytes a lane), stores of sums (8) and norms meet no bank
 * conflict.
 *
 * Fragments are those of vq_search_mma.cuh: lane 4 g + q loads channels 16 p + 4 q to
 * 16 p + 4 q + 3 of rows g and g + 8 for two steps of eight.
 */
#ifndef CODEC_NET_TILE_CUH
#define CODEC_NET_TILE_CUH

#include <cooperative_groups.h>

#include "codec_net.h"
#include "group_norm.h"
#include "vq_search_mma.cuh"

constexpr int NET_THREADS = 256, NET_WARPS = NET_THREADS / 32;
constexpr int SMALL_LEAVES = 4, LARGE_LEAVES = 2; /* of a block at 4^3 and at 8^3 */
constexpr int SMALL_VOXELS = SMALL_LEAVES * LEAF_VECTORS;
constexpr int LARGE_VOXELS = LARGE_LEAVES * LEAF_VOXELS;

/* ------------------------------------------------------------------ layout -- */

/* Where `piece` of a voxel lies, in pieces. voxel = 16 cell + row. */
template <int CHANNELS> static __device__ __forceinline__ int place(int voxel, int piece)
{
    const int swap = CHANNELS == 16 ? (voxel & 2) | (voxel >> 2 & 1)
                                    : (voxel & 1) << 2 | (voxel & 2) | (voxel >> 2 & 1);
    return voxel * (CHANNELS / 4) + (piece ^ swap);
}

/* The two neighbouring sums of a lane. `channel` is even. */
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
 * then of row g + 8. `mask` is all ones, or zero for rows outside the leaf: as a result of
 * an operation each number has one register, where it is used from. Picked by a
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

    /* i, j in 0 to 2, of which 0 and 1 are results. */
    __device__ __forceinline__ int cell(int i, int j) const
    {
        return first + i * along_z + j * along_y;
    }

    /* Where tap 3 (dz + 1) + dy + 1, seen from the corner, lies beside the middle one. */
    __device__ __forceinline__ int tap(int turn) const
    {
        return (turn / 3 - 1) * tap_z + (turn % 3 - 1) * tap_y;
    }
};

template <int TILES>
static __device__ __forceinline__ void load_weights(uint4 b[TILES], const uint4 *__restrict__ from)
{
#pragma unroll
    for (int t = 0; t < TILES; t++)
        b[t] = __ldg(from + t * 32);
}

/* The nine taps along z and y in the order of use, 3 (dz + 1) + dy + 1 seen from the corner.
 * They have 4, 2, 4, 2, 4, 2, 4, 2 and 1 products a tile: two in a row always last long
 * enough for the weights of the tap behind them to arrive. */
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
 * shorter than the way from L2. Three buffers take turns, and nine taps are three rounds.
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

/* v = relu(norm(v)) of a group that a warp holds, N pieces of four channels a lane; a lane
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

/* At 4^3, eight channels a group: `to` = tf32(relu(norm(from))), unrounded without ROUND,
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

/* x *= its channel's factor, at 4^3. A thread has one channel of a leaf, or with fewer
 * channels than threads some are idle. `scratch` is 2 * SMALL_LEAVES * CHANNELS floats.
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

/* -------------------------------------------------------------------- team -- */

/* The blocks that share the work on a few leaves: one. */
struct team_alone {
    enum { SIZE = 1 };

    __device__ __forceinline__ int rank() const
    {
        return 0;
    }

    __device__ __forceinline__ void begin() const
    {
    }
    __device__ __forceinline__ void wait_begun() const
    {
    }

    __device__ __forceinline__ void wait() const
    {
        __syncthreads();
    }

    /* Where `memory` of this block lies in another's. */
    __device__ __forceinline__ float *of(float *memory, int) const
    {
        return memory;
    }

    /* What this block made of `tile` is in every block's; ends with a barrier. */
    template <int CHANNELS> __device__ __forceinline__ void spread(float4 *) const
    {
        __syncthreads();
    }
};

/* The blocks of a cluster, and each has the same leaves and a share of the channels. */
template <int BLOCKS> struct team_cluster {
    enum { SIZE = BLOCKS };

    __device__ __forceinline__ int rank() const
    {
        return (int)cooperative_groups::this_cluster().block_rank();
    }

    /* Another block's memory may be touched once that block runs, which it says by
     * `begin`; between the two there is work that needs none of it. */
    __device__ __forceinline__ void begin() const
    {
        (void)cooperative_groups::this_cluster().barrier_arrive();
    }

    __device__ __forceinline__ void wait_begun() const
    {
        cooperative_groups::this_cluster().barrier_wait();
    }

    __device__ __forceinline__ void wait() const
    {
        cooperative_groups::this_cluster().sync();
    }

    __device__ __forceinline__ float *of(float *memory, int block) const
    {
        return cooperative_groups::this_cluster().map_shared_rank(memory, (unsigned)block);
    }

    template <int CHANNELS> __device__ __forceinline__ void spread(float4 *tile) const
    {
        enum { PIECES = CHANNELS / 4 / BLOCKS };
        const int first = rank() * PIECES;
        __syncthreads();
        for (int other = 1; other < BLOCKS; other++) {
            float4 *to = cooperative_groups::this_cluster().map_shared_rank(
                tile, (unsigned)(first / PIECES + other) % BLOCKS);
            for (int i = threadIdx.x; i < SMALL_VOXELS * PIECES; i += NET_THREADS) {
                const int at = place<CHANNELS>(i / PIECES, first + i % PIECES);
                to[at] = tile[at];
            }
        }
        wait();
    }
};

/* ---------------------------------------------------------------- residual -- */

struct residual_weights {
    struct norm_weights norm[2];
    const uint4 *conv[2];
    const float *bias[2];
};

/*
 * x += 0.1 conv3(relu(norm(conv3(relu(norm(x)))))) at 4^3; `t` is as large as x. Begins with
 * a barrier of the block, ends with one of the team, all of which have begun.
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

#endif
