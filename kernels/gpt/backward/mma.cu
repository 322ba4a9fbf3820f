/*
 * mma.cu - attention_backward in bf16 by mma.sync, for cards without Hopper's wgmma: plain, without
 * atomics, the same bits each time.
 *
 * Three launches. The first has delta = dy . y of each query, beside its lse in powers of 2. In the
 * second a block has 64 keys and goes over the queries from these on, for dk and dv; in the third
 * it has 64 queries and goes over the keys up to these, for dq. Both are one kernel: a block's own
 * rows are rows of s = own0 tile0^T and dp = own1 tile1^T, each warp has 16 of them, and p and ds
 * stay in the registers where they are the left operands of what is added up: ds tile0, and p tile1
 * for dv. Tiles are those of attention_bf16.cuh, 32 rows of two operands, the next one on its way
 * by cp.async while this one is used.
 *
 * Above 128 numbers of a head the registers hold the sums of one gradient only: dv has a launch of
 * its own, which computes s once more, and tiles have 16 rows, so that two blocks fit a
 * multiprocessor.
 *
 * Operations: 14 d per pair in bf16, s and dp twice, and two exponentials. Bytes: q and dy once per
 * 64 keys, k and v once per 64 queries, from L2. What bounds it, by count, is shared memory: at
 * head size 128 a warp reads 40 KiB for 128 products of a tile, 320 cycles of a multiprocessor. At
 * 256 it reads 40, 40 and 24 KiB for dk, dq and dv of a tile, 2.9 times as much per pair.
 */
#include "backward.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/attention/attention_bf16.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS, OWN = 16 * WARPS, ROW_LANES = 8, PIECE = 8 };

/* p = exp2(s scale - lse), ds = p (dp - delta); lse and delta are arrays of [line][padded], and
 * lse, times log2 e, is infinite behind the last query, so that p is 0. */
struct plan {
    struct backward args;
    float *lse, *delta;
    int padded; /* tokens, to a multiple of OWN */
    float scale;
};

/* Where the numbers of a head begin in y and dy. */
static __device__ __forceinline__ int64_t begin_y(const struct attention &forward, int line)
{
    return attention_out<uint16_t>(forward, line) - (const uint16_t *)forward.y;
}

/* Eight lanes per row. */
static __global__ void __launch_bounds__(THREADS) prepare(const struct plan plan, int64_t rows)
{
    const struct attention &forward = plan.args.forward;
    const int64_t index = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / ROW_LANES;
    const int line = (int)(index / plan.padded), token = (int)(index % plan.padded);
    const bool is_query = index < rows && token < forward.tokens;
    const int lane = threadIdx.x % ROW_LANES;
    float delta = 0.0f;
    for (int at = lane * PIECE; is_query && at < forward.size; at += ROW_LANES * PIECE) {
        const int64_t from = begin_y(forward, line) + token * forward.stride_y + at;
        uint4 y = __ldg((const uint4 *)((const uint16_t *)forward.y + from));
        uint4 dy = __ldg((const uint4 *)((const uint16_t *)plan.args.dy + from));
        const uint32_t a[] = {y.x, y.y, y.z, y.w}, b[] = {dy.x, dy.y, dy.z, dy.w};
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            delta = fmaf(bf16_float((uint16_t)(a[i / 2] >> i % 2 * 16)),
                         bf16_float((uint16_t)(b[i / 2] >> i % 2 * 16)), delta);
    }
    delta = gpt_eight_sum(delta);
    if (lane > 0 || index >= rows) return;
    const float lse = is_query ? plan.args.lse[(int64_t)line * forward.tokens + token] : INFINITY;
    plan.lse[index] = lse * GPT_LOG2_E;
    plan.delta[index] = delta;
}

/* Rows of a tile. SIZE: numbers of a head that are computed. */
template <int SIZE> static constexpr int TILE = SIZE <= 128 ? 32 : 16;

/* In shared memory: own rows of two operands, then two stages of a tile of both. */
template <int SIZE> struct layout {
    static const int own_bytes = OWN * PITCH<SIZE> * 16;
    static const int tile_bytes = TILE<SIZE> * PITCH<SIZE> * 16;
    static const int bytes = 2 * own_bytes + 4 * tile_bytes;
};

/* Sums of a warp's 16 rows, and weights of these and a tile. */
template <int SIZE> using head_sums = float[SIZE / 8][4];
template <int SIZE> using tile_sums = float[TILE<SIZE> / 8][4];

/* sums = own rows times rows of a tile, over the numbers of the head. */
template <int SIZE>
static __device__ __forceinline__ void score(tile_sums<SIZE> &sums, uint32_t own, uint32_t tile)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
    const struct mma_place at_a = mma_place_a(lane), at_b = mma_place_b(lane);
#pragma unroll
    for (int step = 0; step < SIZE / 16; step++) {
        uint32_t a[4], b[4];
        mma_load(a, own + place<SIZE>(row + at_a.row, 2 * step + at_a.chunk));
#pragma unroll
        for (int j = 0; j < TILE<SIZE> / 16; j++) {
            mma_load(b, tile + place<SIZE>(16 * j + at_b.row, 2 * step + at_b.chunk));
            mma_step(uint16_t(), sums[2 * j], a, b[0], b[1]);
            mma_step(uint16_t(), sums[2 * j + 1], a, b[2], b[3]);
        }
    }
}

/* sums += weights times rows of a tile. */
template <int SIZE>
static __device__ __forceinline__ void add(head_sums<SIZE> &sums, const tile_sums<SIZE> &weight,
                                           uint32_t tile)
{
    const struct mma_place at = mma_place_b_trans(threadIdx.x % 32);
#pragma unroll
    for (int j = 0; j < TILE<SIZE> / 16; j++) {
        uint32_t a[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            a[i] =
                bf16_pair(weight[2 * j + i / 2][i % 2 * 2], weight[2 * j + i / 2][i % 2 * 2 + 1]);
#pragma unroll
        for (int d = 0; d < SIZE / 16; d++) {
            mma_load_trans(b, tile + place<SIZE>(16 * j + at.row, 2 * d + at.chunk));
            mma_step(uint16_t(), sums[2 * d], a, b[0], b[1]);
            mma_step(uint16_t(), sums[2 * d + 1], a, b[2], b[3]);
        }
    }
}

/* To part 0 (dq), 1 or 2 of the head whose q begins at `head`. */
template <int SIZE>
static __device__ __forceinline__ void store(const struct plan &plan, int64_t head, int part,
                                             int row, const head_sums<SIZE> &sums, float scale)
{
    const struct attention &forward = plan.args.forward;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int token = row + mma_row(lane, 2 * half);
        if (token >= forward.tokens) continue;
        uint16_t *to = (uint16_t *)plan.args.dqkv + head + part * forward.stride_y +
                       token * forward.stride + mma_column(lane, 0);
#pragma unroll
        for (int d = 0; d < SIZE / 8; d++)
            if (8 * d < forward.size)
                *(uint32_t *)(to + 8 * d) =
                    bf16_pair(scale * sums[d][2 * half], scale * sums[d][2 * half + 1]);
    }
}

/* DK, DV or both: own rows are keys, of k and v, and tiles queries, of q and dy. DQ: the other way
 * round. */
enum gradients { DQ = 1, DK = 2, DV = 4 };

template <int SIZE, int GRADIENTS>
static __global__ void __launch_bounds__(THREADS, 2) differentiate(const struct plan plan)
{
    const bool KEYS = GRADIENTS != DQ, DS = GRADIENTS != DV;
    const int tile_rows = TILE<SIZE>;
    extern __shared__ __align__(128) unsigned char backward_memory[];
    const struct attention &forward = plan.args.forward;
    const uint16_t *q = attention_head<uint16_t>(forward, blockIdx.x);
    const uint16_t *k = q + forward.stride_y, *v = k + forward.stride_y;
    const uint16_t *dy = (const uint16_t *)plan.args.dy + begin_y(forward, blockIdx.x);
    const int tokens = forward.tokens, size = forward.size, lane = threadIdx.x % 32;
    const int own = (KEYS ? blockIdx.y : gridDim.y - 1 - blockIdx.y) * OWN; /* longest first */
    const int row = own + threadIdx.x / 32 * 16;
    const int begin = KEYS ? own / tile_rows : 0;
    const int end = ((KEYS ? tokens : min(own + OWN, tokens)) + tile_rows - 1) / tile_rows;
    const uint32_t own0 = mma_shared(backward_memory), own1 = own0 + layout<SIZE>::own_bytes;
    const uint32_t stages = own1 + layout<SIZE>::own_bytes;
    const float *lse = plan.lse + (int64_t)blockIdx.x * plan.padded;
    const float *delta = plan.delta + (int64_t)blockIdx.x * plan.padded;

    auto fetch = [&](int tile) {
        const uint32_t to = stages + tile % 2 * 2 * layout<SIZE>::tile_bytes;
        if (tile < end) {
            copy_tile<SIZE, tile_rows, THREADS>(to, KEYS ? q : k, tile * tile_rows, tokens,
                                                forward.stride, size);
            copy_tile<SIZE, tile_rows, THREADS>(to + layout<SIZE>::tile_bytes, KEYS ? dy : v,
                                                tile * tile_rows, tokens,
                                                KEYS ? forward.stride_y : forward.stride, size);
        }
        mma_copy_commit();
    };
    copy_tile<SIZE, OWN, THREADS>(own0, KEYS ? k : q, own, tokens, forward.stride, size);
    if (DS)
        copy_tile<SIZE, OWN, THREADS>(own1, KEYS ? v : dy, own, tokens,
                                      KEYS ? forward.stride : forward.stride_y, size);
    fetch(begin); /* own rows are in its group */

    head_sums<SIZE> by_ds = {}, by_p = {};
    for (int tile = begin; tile < end; tile++) {
        mma_copy_wait<0>();
        __syncthreads(); /* this tile is there for all, and the one before is read by all */
        fetch(tile + 1);
        const int first = tile * tile_rows;
        if (KEYS ? first + tile_rows <= row : first >= row + 16)
            continue; /* no pair of this warp's */
        const uint32_t tile0 = stages + tile % 2 * 2 * layout<SIZE>::tile_bytes;
        const uint32_t tile1 = tile0 + layout<SIZE>::tile_bytes;
        tile_sums<SIZE> p = {}, ds = {};
        score<SIZE>(p, own0, tile0);
        if (DS) score<SIZE>(ds, own1, tile1);
#pragma unroll
        for (int j = 0; j < TILE<SIZE> / 8; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int across = first + 8 * j + mma_column(lane, i), at = row + mma_row(lane, i);
                const int query = KEYS ? across : at, key = KEYS ? at : across;
                const float weight = gpt_exp2(fmaf(p[j][i], plan.scale, -__ldg(lse + query)));
                p[j][i] = key > query ? 0.0f : weight;
                if (DS) ds[j][i] = p[j][i] * (ds[j][i] - __ldg(delta + query));
            }
        if (DS) add<SIZE>(by_ds, ds, tile0);
        if (GRADIENTS & DV) add<SIZE>(by_p, p, tile1);
    }
    const int64_t head = q - (const uint16_t *)forward.qkv;
    if (DS) store<SIZE>(plan, head, KEYS ? 1 : 0, row, by_ds, rsqrtf((float)size));
    if (GRADIENTS & DV) store<SIZE>(plan, head, 2, row, by_p, 1.0f);
}

/* ---------------------------------------------------------------- host side -- */

static int64_t padded_of(const struct assay_shape *shape)
{
    return (shape->value[ATTENTION_TOKENS] + OWN - 1) / OWN * OWN;
}

static int64_t rows_of(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS] * padded_of(shape);
}

static const char *supports(const struct assay_shape *shape)
{
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    if (backward_precision(shape) != GPT_BF16) return "bf16 only";
    return size % PIECE ? "made for head sizes in multiples of 8" : NULL;
}

typedef void backward_kernel(const struct plan plan);

struct choice {
    int size, bytes;
    backward_kernel *kernels[3]; /* launched one after the other, as far as there are any */
};

template <int SIZE> static constexpr struct choice choice_of(void)
{
    return {SIZE, layout<SIZE>::bytes, {differentiate<SIZE, DK | DV>, differentiate<SIZE, DQ>}};
}

template <int SIZE> static constexpr struct choice wide_choice_of(void)
{
    return {SIZE,
            layout<SIZE>::bytes,
            {differentiate<SIZE, DK>, differentiate<SIZE, DV>, differentiate<SIZE, DQ>}};
}

static const struct choice choices[] = {choice_of<64>(), choice_of<128>(), wide_choice_of<192>(),
                                        wide_choice_of<256>()};

/* The first that is not smaller. */
static const struct choice *choice_for(const struct assay_shape *shape)
{
    const struct choice *choice = choices;
    while (choice->size < shape->value[ATTENTION_HEAD_SIZE])
        choice++;
    return choice;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return choice_for(shape)->bytes;
}

static int setup(struct assay_call *call)
{
    const struct choice *choice = choice_for(call->shape);
    for (backward_kernel *kernel : choice->kernels)
        if (kernel && cuda_allow_shared((const void *)kernel, choice->bytes)) return -1;
    return device_memory(call, &call->state, 2 * rows_of(call->shape) * (int64_t)sizeof(float),
                         "lse and delta");
}

static int launch(struct assay_call *call)
{
    const int64_t rows = rows_of(call->shape);
    float *lse = (float *)call->state;
    const struct plan plan = {backward_args(call), lse, lse + rows, (int)padded_of(call->shape),
                              attention_scale((int)call->shape->value[ATTENTION_HEAD_SIZE])};
    cudaStream_t stream = (cudaStream_t)call->stream;
    prepare<<<gpt_blocks(rows, THREADS / ROW_LANES), THREADS, 0, stream>>>(plan, rows);
    const struct choice *choice = choice_for(call->shape);
    const struct attention &forward = plan.args.forward;
    const dim3 grid((unsigned)(forward.batch * forward.heads), (unsigned)plan.padded / OWN);
    for (backward_kernel *kernel : choice->kernels)
        if (kernel) kernel<<<grid, THREADS, choice->bytes, stream>>>(plan);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "attention_backward",
    .name = "mma",
    .summary = "seven or eight products by mma.sync: blocks of keys, then blocks of queries",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
