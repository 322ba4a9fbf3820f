/*
 * linear_fp8_mma.cu - `linear_fp8` by mma.sync in fp16, for cards without Hopper's wgmma. Products
 * of e4m3 are exact in fp16 too, and sums of 128 terms are in fp32.
 *
 * A block has ROWS x COLUMNS outputs, a warp 64 x 32 of them. Codes of DEPTH terms wait in
 * registers while those before are multiplied, and are widened on their way to shared memory, once
 * per block: so memory and L2 move bytes, and ldmatrix finds what it does in linear_128.cu.
 * Shared memory is double, for one barrier per stage. After each 128 terms the sums are added to
 * others with their scales, as the definition has it, whatever the scales are of; that is what a
 * warp's tile is half of linear_128.cu's for.
 *
 * Tiles of 128 x 128; where those are fewer than multiprocessors, of 64 x 32 by four warps, each of
 * which has every fourth group of 128 terms, so that four times as many bytes are on their way. Any
 * shape: where k is no multiple of 16 codes are loaded one at a time. On sm_89 and later mma.sync
 * takes e4m3 as well, which is not used.
 *
 * Operations: 2 m n k in fp16. Bytes from L2: x n / COLUMNS times and w m / ROWS times.
 */
#include "kernels/cuda/cuda_limits.h"
#include "kernels/gpt/mma.cuh"
#include "linear_fp8.h"
#include "linear_order.h"

enum {
    WARP_ROWS = 64,
    WARP_COLUMNS = 32,
    DEPTH = 64, /* terms of a stage */
    PIECE = 16, /* codes of one load */
    ROW_PIECES = DEPTH / PIECE,
    ROW_BYTES = 2 * DEPTH,
    GROUP_STAGES = LFP8_GROUP / DEPTH,
    BANDS = 8, /* of tiles, whose operands stay in L2 (linear_order.h) */
};

struct arguments {
    const uint8_t *x, *w;
    const float *x_scales, *w_scales;
    uint16_t *y;
    int m, n, k;
    int by_block, groups; /* 1, and of a row; both 0 where one scale is for all */
};

/* Codes `at` to at + PIECE - 1 of a row; zeros outside of the matrix. */
static __device__ __forceinline__ uint4 load_piece(const uint8_t *matrix, int row, int rows, int at,
                                                   int k)
{
    const uint8_t *from = matrix + (int64_t)row * k + at;
    const bool inside = row < rows && at < k;
    if (k % PIECE == 0) return inside ? __ldg((const uint4 *)from) : make_uint4(0, 0, 0, 0);
    uint64_t low = 0, high = 0;
#pragma unroll 1
    for (int i = PIECE - 1; i >= 0; i--) {
        high = high << 8 | low >> 56;
        low = low << 8 | (inside && at + i < k ? from[i] : 0);
    }
    return make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32));
}

/* ROWS of x, then COLUMNS of w: a stage of both, first on the way and then in shared memory. PARTS:
 * threads that share the groups of k; each has stages of its own. */
template <int ROWS, int COLUMNS, int PARTS> struct tile {
    static const int rows = ROWS, columns = COLUMNS, parts = PARTS;
    static const int part_threads = 32 * (ROWS / WARP_ROWS) * (COLUMNS / WARP_COLUMNS);
    static const int threads = PARTS * part_threads, step = part_threads / ROW_PIECES;
    static const int pieces = (ROWS + COLUMNS) / step;
    static const int stage_bytes = (ROWS + COLUMNS) * ROW_BYTES;
    static const int shared_bytes = PARTS * 2 * stage_bytes;
    uint4 next[pieces];

    static __device__ __forceinline__ int row_of(int piece)
    {
        return threadIdx.x % part_threads / ROW_PIECES + piece * step;
    }

    __device__ __forceinline__ void load(const struct arguments &of, int m0, int n0, int k0)
    {
        const int at = k0 + threadIdx.x % ROW_PIECES * PIECE;
#pragma unroll
        for (int i = 0; i < pieces; i++) {
            int row = row_of(i);
            next[i] = i * step < ROWS ? load_piece(of.x, m0 + row, of.m, at, of.k)
                                      : load_piece(of.w, n0 + row - ROWS, of.n, at, of.k);
        }
    }

    __device__ __forceinline__ void store(unsigned char *stage) const
    {
        const int chunk = threadIdx.x % ROW_PIECES * 2;
#pragma unroll
        for (int i = 0; i < pieces; i++) {
            int row = row_of(i);
            uint4 *to = (uint4 *)(stage + row * ROW_BYTES), codes = next[i];
            to[mma_swizzle(row, chunk)] = make_uint4(e4m3_pair(codes.x), e4m3_pair(codes.x >> 16),
                                                     e4m3_pair(codes.y), e4m3_pair(codes.y >> 16));
            to[mma_swizzle(row, chunk + 1)] =
                make_uint4(e4m3_pair(codes.z), e4m3_pair(codes.z >> 16), e4m3_pair(codes.w),
                           e4m3_pair(codes.w >> 16));
        }
    }
};

/* Sums of a warp's 64 x 32 outputs. */
typedef float warp_sums[4][4][4];

static __device__ __forceinline__ void multiply(warp_sums &sums, uint32_t x, uint32_t w)
{
    const int lane = threadIdx.x % 32;
    const struct mma_place at_a = mma_place_a(lane), at_b = mma_place_b(lane);
#pragma unroll
    for (int step = 0; step < DEPTH / 16; step++) {
        uint32_t a[4][4], b[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            mma_load(a[i], x + (16 * i + at_a.row) * ROW_BYTES +
                               mma_swizzle(at_a.row, 2 * step + at_a.chunk) * 16);
#pragma unroll
        for (int j = 0; j < 2; j++)
            mma_load(b[j], w + (16 * j + at_b.row) * ROW_BYTES +
                               mma_swizzle(at_b.row, 2 * step + at_b.chunk) * 16);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                mma_step(fp16_t(), sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

/* Scales of a group: of a thread's rows and of a warp's columns. They are not multiplied before the
 * products, which would wait for them. */
struct group_scales {
    float x[4][2], w;
};

static __device__ __forceinline__ struct group_scales load_scales(const struct arguments &of,
                                                                  int row, int column, int group)
{
    const int at = group * of.by_block;
    struct group_scales scales;
    scales.w = of.w_scales[(int64_t)(column / LFP8_GROUP) * of.groups + at];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int own = min(row + i / 2 * 16 + mma_row(threadIdx.x % 32, i % 2 * 2), of.m - 1);
        scales.x[i / 2][i % 2] = of.x_scales[(int64_t)own * of.groups + at];
    }
    return scales;
}

/* The sums of a group, with their scales, to those of others. */
static __device__ __forceinline__ void add_group(warp_sums &sum, warp_sums &group,
                                                 const struct group_scales &scales)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                sum[i][j][n] = fmaf(group[i][j][n], scales.w * scales.x[i][n / 2], sum[i][j][n]);
                group[i][j][n] = 0.0f;
            }
}

static __device__ __forceinline__ void write(const struct arguments &of, const warp_sums &sum,
                                             int row0, int column0)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 16; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = row0 + i / 4 * 16 + mma_row(lane, 2 * half);
            int column = column0 + i % 4 * 8 + mma_column(lane, 0);
            if (row >= of.m || column >= of.n) continue;
            uint16_t *to = of.y + (int64_t)row * of.n + column;
            const float *pair = sum[i / 4][i % 4] + 2 * half;
            if (of.n % 2 == 0) {
                *(uint32_t *)to = bf16_pair(pair[0], pair[1]);
                continue;
            }
            to[0] = bf16_of(pair[0]);
            if (column + 1 < of.n) to[1] = bf16_of(pair[1]);
        }
}

/* The sums of all parts, in the threads of the first: true there. */
template <typename layout>
static __device__ __forceinline__ bool add_parts(warp_sums &sum, int part, float *shared)
{
    if (layout::parts == 1) return true;
    float *mine = shared + threadIdx.x % layout::part_threads;
    if (part > 0)
#pragma unroll
        for (int i = 0; i < 64; i++)
            mine[(part * 64 + i) * layout::part_threads] = sum[i / 16][i / 4 % 4][i % 4];
    __syncthreads();
    if (part > 0) return false;
    for (int p = 1; p < layout::parts; p++)
#pragma unroll
        for (int i = 0; i < 64; i++)
            sum[i / 16][i / 4 % 4][i % 4] += mine[(p * 64 + i) * layout::part_threads];
    return true;
}

template <typename layout>
static __global__ void __launch_bounds__(layout::threads) linear_fp8_mma(const struct arguments of)
{
    extern __shared__ __align__(128) unsigned char memory[];
    const int rows = layout::rows, columns = layout::columns, parts = layout::parts;
    const struct linear_tile at =
        linear_order(blockIdx.x, (of.m + rows - 1) / rows, (of.n + columns - 1) / columns, BANDS);
    const int m0 = at.band * rows, n0 = at.column * columns, across = columns / WARP_COLUMNS;
    const int part = threadIdx.x / layout::part_threads;
    const int warp = threadIdx.x % layout::part_threads / 32;
    const int row = warp / across * WARP_ROWS, column = warp % across * WARP_COLUMNS;
    const int groups = (of.k + LFP8_GROUP - 1) / LFP8_GROUP;
    const int stages = (groups + parts - 1) / parts * GROUP_STAGES;
    unsigned char *own = memory + part * 2 * layout::stage_bytes;
    auto group_of = [&](int stage) { return stage / GROUP_STAGES * parts + part; };
    warp_sums sum = {}, sums_of_group = {};
    layout next;
    next.load(of, m0, n0, part * LFP8_GROUP);
    next.store(own);
    __syncthreads();
    for (int stage = 0; stage < stages; stage++) {
        const bool ends = (stage + 1) % GROUP_STAGES == 0;
        const uint32_t now = mma_shared(own + stage % 2 * layout::stage_bytes);
        struct group_scales scales;
        if (ends) scales = load_scales(of, m0 + row, n0 + column, min(group_of(stage), groups - 1));
        if (stage + 1 < stages)
            next.load(of, m0, n0,
                      group_of(stage + 1) * LFP8_GROUP + (stage + 1) % GROUP_STAGES * DEPTH);
        multiply(sums_of_group, now + row * ROW_BYTES, now + (rows + column) * ROW_BYTES);
        if (ends) add_group(sum, sums_of_group, scales);
        if (stage + 1 < stages) next.store(own + (stage + 1) % 2 * layout::stage_bytes);
        __syncthreads(); /* the next stage is there, and this one is read */
    }
    if (add_parts<layout>(sum, part, (float *)memory)) write(of, sum, m0 + row, n0 + column);
}

/* ---------------------------------------------------------------- host side -- */

typedef tile<128, 128, 1> large;
typedef tile<64, 32, 4> small;

template <typename layout> static unsigned tiles_of(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return gpt_blocks(value[LFP8_M], layout::rows) * gpt_blocks(value[LFP8_N], layout::columns);
}

static bool is_small(const struct assay_shape *shape)
{
    return tiles_of<large>(shape) < (unsigned)assay_card()->multiprocessors;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return is_small(shape) ? small::shared_bytes : large::shared_bytes;
}

static int setup(struct assay_call *call)
{
    const void *kernel = is_small(call->shape) ? (const void *)linear_fp8_mma<small>
                                               : (const void *)linear_fp8_mma<large>;
    return cuda_allow_shared(kernel, shared_bytes(call->shape));
}

template <typename layout>
static int enqueue(const struct assay_call *call, const struct arguments &of)
{
    linear_fp8_mma<layout><<<tiles_of<layout>(call->shape), layout::threads, layout::shared_bytes,
                             (cudaStream_t)call->stream>>>(of);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const bool by_block = value[LFP8_SCALE] == LFP8_BLOCK;
    const struct arguments of = {(const uint8_t *)call->buffer[LFP8_X],
                                 (const uint8_t *)call->buffer[LFP8_W],
                                 (const float *)call->buffer[LFP8_X_SCALES],
                                 (const float *)call->buffer[LFP8_W_SCALES],
                                 (uint16_t *)call->buffer[LFP8_Y],
                                 (int)value[LFP8_M],
                                 (int)value[LFP8_N],
                                 (int)value[LFP8_K],
                                 by_block,
                                 by_block ? (int)lfp8_groups(value[LFP8_K]) : 0};
    return is_small(call->shape) ? enqueue<small>(call, of) : enqueue<large>(call, of);
}

static const struct assay_variant variant = {
    .operation = "linear_fp8",
    .name = "mma",
    .summary = "mma.sync in fp16, codes widened on their way to shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
