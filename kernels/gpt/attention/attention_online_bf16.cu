/*
 * attention_online_bf16.cu - one kernel on the tensor cores, in bf16 and fp16, after Dao,
 * "FlashAttention-2" (ICLR 2024, algorithm 1). A block has some queries, each warp its own rows of
 * them, and goes over the keys; scores, weights and sums stay in registers.
 *
 * Each warp has 16 TILES queries, and PARTS warps share them where there are few: each takes a part
 * of a tile's keys, and the first of them combines their softmaxes at the end. Keys and values are
 * fetched by cp.async in tiles of 64 or 128, the first two together and then the next one while
 * this one is used, swizzled so that ldmatrix has no bank conflicts. The accumulators of the
 * scores, packed in pairs, serve as the left operand of the second product without being moved
 * (mma_layout.h and its test). exp2 replaces exp, and rows are rescaled when a tile brings a larger
 * score. A query sees keys up to itself: tiles behind the last query of a warp are skipped, and
 * only tiles on the diagonal are masked. Blocks are launched longest first.
 *
 * Operations: 4 d per pair in bf16, and an exponential. Bytes: q and y once, k and v once per
 * block of queries, from L2.
 *
 * At head size 128 with 32 queries per warp 255 registers are not enough: 60 bytes are spilt,
 * about ten local accesses per tile beside its 256 products.
 *
 * A batch of 1 with 12 heads of 128 tokens: blocks of 32 queries would be 48 on 132
 * multiprocessors. In four parts of 32 keys there are 96 blocks of 16 queries, and a warp's own
 * work is 16 + 16 products of 16 x 8 at d = 64 in place of 64 + 64. On an H200, cold, in bf16: 3.07
 * us, 5.47 by cuDNN; at d = 256 6.85 and 10.7.
 */
#include "attention_tile.cuh"
#include "attention_configs.cuh"
#include "kernels/gpt/mma.cuh"
#include "kernels/gpt/dependent_launch.cuh"

/* Chunks from row to row of a tile whose rows have SIZE numbers: the swizzle wants 2, 4 or a
 * multiple of 8. */
template <int SIZE> static constexpr int PITCH = SIZE <= 64 ? SIZE / 8 : SIZE <= 128 ? 16 : 32;

/* Where chunk `chunk` of row `row` lies in a tile. */
template <int SIZE> static __device__ __forceinline__ uint32_t place(int row, int chunk)
{
    const int chunks = PITCH<SIZE>;
    int at = chunks < 8 ? mma_swizzle_narrow(row, chunk, chunks) : mma_swizzle(row, chunk);
    return (row * chunks + at) * 16;
}

/* Rows first to `end`, zeros after them. A thread keeps its chunk and goes down the rows, where it
 * can by a multiple of eight, which does not change the swizzle. So one running address is enough,
 * and registers are scarce. */
template <int SIZE, int ROWS, int THREADS>
static __device__ __forceinline__ void copy_tile(uint32_t to, const uint16_t *from, int first,
                                                 int end, int64_t stride)
{
    const int chunks = PITCH<SIZE>, step = THREADS / chunks;
    static_assert(ROWS % step == 0 || ROWS < step);
    int row = threadIdx.x / chunks, chunk = threadIdx.x % chunks;
    if ((ROWS < step && row >= ROWS) || chunk >= SIZE / 8) return;
    const uint16_t *at = from + (first + row) * stride + chunk * 8;
    const uint32_t begin = to + place<SIZE>(row, chunk);
#pragma unroll
    for (int i = 0; i < (ROWS + step - 1) / step; i++) {
        bool valid = first + row + i * step < end;
        uint32_t there =
            step % 8 ? to + place<SIZE>(row + i * step, chunk) : begin + i * step * chunks * 16;
        mma_copy(there, valid ? at : from, valid);
        at += step * stride;
    }
}

/* TILE keys; WARPS of different queries, PARTS of a tile's keys. */
template <int SIZE, int TILE, int TILES, int WARPS, int PARTS> struct online_layout {
    static const int size = SIZE;
    static const int threads = 32 * WARPS * PARTS;
    static const int queries = 16 * TILES * WARPS;
    static const int tile = TILE, keys = TILE / PARTS; /* of a warp */
    static const int query_bytes = queries * PITCH<SIZE> * 16;
    static const int key_bytes = tile * PITCH<SIZE> * 16;
    static const int bytes = query_bytes + 4 * key_bytes; /* k and v, two stages */
    static_assert(4 * attention_join_floats(2 * TILES, SIZE / 4, WARPS, PARTS) <= bytes);
};

/* T: uint16_t (bf16) or fp16_t. */
template <typename T, int SIZE, int TILE, int TILES, int WARPS, int PARTS>
static __global__ void __launch_bounds__(32 * WARPS * PARTS, 2)
    online(const struct attention args, float scale)
{
    typedef online_layout<SIZE, TILE, TILES, WARPS, PARTS> layout;
    const int KEYS = layout::keys;
    extern __shared__ __align__(128) unsigned char attention_memory[];
    const uint32_t queries = mma_shared(attention_memory);
    const uint32_t stages = queries + layout::query_bytes;
    const uint16_t *head = attention_head<uint16_t>(args, blockIdx.x);
    const uint16_t *k = head + args.stride_y, *v = k + args.stride_y;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = (gridDim.y - 1 - blockIdx.y) * layout::queries;
    int line = warp % WARPS, part = warp / WARPS;
    int own = first + line * 16 * TILES;                 /* the warp's first query */
    int end = min(first + layout::queries, args.tokens); /* behind the last key that is seen */
    int tiles = (end + layout::tile - 1) / layout::tile;

    dependent_release();
    dependent_wait();
    auto fetch = [&](int tile) {
        uint32_t stage = stages + tile % 2 * 2 * layout::key_bytes;
        if (tile < tiles) {
            int row = tile * layout::tile;
            copy_tile<SIZE, layout::tile, layout::threads>(stage, k, row, end, args.stride);
            copy_tile<SIZE, layout::tile, layout::threads>(stage + layout::key_bytes, v, row, end,
                                                           args.stride);
        }
        mma_copy_commit();
    };

    copy_tile<SIZE, layout::queries, layout::threads>(queries, head, first, end, args.stride);
    fetch(0); /* the queries are in its group */
    fetch(1);

    float sum[TILES][SIZE / 8][4] = {};
    float peak[TILES][2], total[TILES][2];
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            peak[t][half] = -INFINITY;
            total[t][half] = 0.0f;
        }
    struct mma_place at_a = mma_place_a(lane), at_b = mma_place_b(lane);
    struct mma_place at_v = mma_place_b_trans(lane);

    for (int tile = 0; tile < tiles; tile++) {
        if (tile == 0)
            mma_copy_wait<1>();
        else
            mma_copy_wait<0>();
        __syncthreads(); /* this tile is there for all, and the one before is read by all */
        if (tile > 0) fetch(tile + 1);
        int key0 = tile * layout::tile + part * KEYS;
        if (key0 >= own + 16 * TILES) continue;
        uint32_t keys = stages + tile % 2 * 2 * layout::key_bytes;
        uint32_t values = keys + layout::key_bytes;

        float s[TILES][KEYS / 8][4] = {};
#pragma unroll
        for (int step = 0; step < SIZE / 16; step++) {
            uint32_t a[TILES][4];
#pragma unroll
            for (int t = 0; t < TILES; t++)
                mma_load(a[t], queries + place<SIZE>((line * TILES + t) * 16 + at_a.row,
                                                     2 * step + at_a.chunk));
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                uint32_t b[4];
                mma_load(
                    b, keys + place<SIZE>(part * KEYS + 16 * j + at_b.row, 2 * step + at_b.chunk));
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    mma_step(T(), s[t][2 * j], a[t], b[0], b[1]);
                    mma_step(T(), s[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }

        if (key0 + KEYS - 1 > own)
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        if (key0 + 8 * j + mma_column(lane, i) > own + 16 * t + mma_row(lane, i))
                            s[t][j][i] = -INFINITY;

#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                /* Key 0 is seen by every query, so from the first tile on this is a number, but in
                 * the later parts. */
                float most = peak[t][half];
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
                    most = fmaxf(most, fmaxf(s[t][j][2 * half], s[t][j][2 * half + 1]));
                most = attention_row_max(most);
                float seen = PARTS > 1 && most == -INFINITY ? 0.0f : most;
                float keep = attention_exp2((peak[t][half] - seen) * scale), shift = seen * scale;
                float fresh = 0.0f;
                peak[t][half] = most;
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                    for (int i = 2 * half; i < 2 * half + 2; i++) {
                        s[t][j][i] = attention_exp2(fmaf(s[t][j][i], scale, -shift));
                        fresh += s[t][j][i];
                    }
                total[t][half] = fmaf(total[t][half], keep, fresh);
#pragma unroll
                for (int d = 0; d < SIZE / 8; d++) {
                    sum[t][d][2 * half] *= keep;
                    sum[t][d][2 * half + 1] *= keep;
                }
            }

#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) {
            uint32_t a[TILES][4];
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    a[t][i] = gpt_pack(T(), s[t][2 * j + i / 2][i % 2 * 2],
                                       s[t][2 * j + i / 2][i % 2 * 2 + 1]);
#pragma unroll
            for (int d = 0; d < SIZE / 16; d++) {
                uint32_t b[4];
                mma_load_trans(
                    b, values + place<SIZE>(part * KEYS + 16 * j + at_v.row, 2 * d + at_v.chunk));
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    mma_step(T(), sum[t][2 * d], a[t], b[0], b[1]);
                    mma_step(T(), sum[t][2 * d + 1], a[t], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            total[t][half] = attention_row_sum(total[t][half]);
    auto sum_of = [&](int row, int i) -> float & {
        return sum[row / 2][i / 2][row % 2 * 2 + i % 2];
    };
    if (!attention_join<2 * TILES, SIZE / 4, WARPS, PARTS>((float *)attention_memory, scale,
                                                           peak[0], total[0], sum_of))
        return;

    uint16_t *y = attention_out<uint16_t>(args, blockIdx.x);
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int query = own + 16 * t + mma_row(lane, 2 * half);
            float inverse = 1.0f / total[t][half];
            if (query >= args.tokens) continue;
            uint16_t *to = y + query * args.stride_y + mma_column(lane, 0);
#pragma unroll
            for (int d = 0; d < SIZE / 8; d++)
                *(uint32_t *)(to + 8 * d) =
                    gpt_pack(T(), sum[t][d][2 * half] * inverse, sum[t][d][2 * half + 1] * inverse);
        }
}

/* ------------------------------------------------------------- host side -- */

/* NAME: queries of a block x keys of a tile. */
#define CONFIG(NAME, ...)                                                                          \
    attention_config_of<online_layout<__VA_ARGS__>>(NAME, online<T, __VA_ARGS__>)

template <typename T> static struct attention_configs configs_of(void)
{
    static const struct attention_config configs[] = {
        CONFIG("16x128", 16, 128, 1, 1, 4), CONFIG("32x64", 16, 64, 1, 2, 1),
        CONFIG("64x64", 16, 64, 1, 4, 1),   CONFIG("128x64", 16, 64, 2, 4, 1),
        CONFIG("16x128", 32, 128, 1, 1, 4), CONFIG("32x64", 32, 64, 1, 2, 1),
        CONFIG("64x64", 32, 64, 1, 4, 1),   CONFIG("128x64", 32, 64, 2, 4, 1),
        CONFIG("16x128", 64, 128, 1, 1, 4), CONFIG("32x64", 64, 64, 1, 2, 1),
        CONFIG("64x64", 64, 64, 1, 4, 1),   CONFIG("128x64", 64, 64, 2, 4, 1),
        CONFIG("16x64", 80, 64, 1, 1, 4),   CONFIG("32x64", 80, 64, 1, 2, 1),
        CONFIG("64x64", 80, 64, 1, 4, 1),   CONFIG("16x64", 96, 64, 1, 1, 4),
        CONFIG("32x64", 96, 64, 1, 2, 1),   CONFIG("64x64", 96, 64, 1, 4, 1),
        CONFIG("16x64", 128, 64, 1, 1, 4),  CONFIG("32x64", 128, 64, 1, 2, 1),
        CONFIG("64x64", 128, 64, 1, 4, 1),  CONFIG("128x64", 128, 64, 2, 4, 1),
        CONFIG("16x64", 256, 64, 1, 1, 4),  CONFIG("64x64", 256, 64, 1, 4, 1),
    };
    return {configs, sizeof configs / sizeof *configs};
}

struct attention_configs attention_configs_bf16(void)
{
    return configs_of<uint16_t>();
}

struct attention_configs attention_configs_fp16(void)
{
    return configs_of<fp16_t>();
}

template <enum gpt_precision PRECISION> static const char *supports(const struct assay_shape *shape)
{
    const char *other = gpt_only(PRECISION, shape->value[ATTENTION_PRECISION]);
    if (other) return other;
    return attention_configs_shared_bytes(shape) < INT64_MAX
               ? NULL
               : "made for head sizes 16, 32, 64, 80, 96, 128 and 256";
}

static const struct assay_variant bf16 = {
    .operation = "attention",
    .name = "online_bf16",
    .summary = "one kernel on the tensor cores, everything but k and v in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports<GPT_BF16>,
    .shared_bytes = attention_configs_shared_bytes,
    .setup = attention_configs_setup,
    .launch = attention_configs_launch,
};
ASSAY_REGISTER_VARIANT(bf16);

static const struct assay_variant fp16 = {
    .operation = "attention",
    .name = "online_fp16",
    .summary = "one kernel on the tensor cores, everything but k and v in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports<GPT_FP16>,
    .shared_bytes = attention_configs_shared_bytes,
    .setup = attention_configs_setup,
    .launch = attention_configs_launch,
};
ASSAY_REGISTER_VARIANT(fp16);
