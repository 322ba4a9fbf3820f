/*
 * registers.cu - fp8_quantize in one pass: what has a scale stays in registers between the search
 * for its largest magnitude and its codes.
 *
 * Formula: a = the largest finite |x|, at least 2^-100; s = fdiv(a, M);
 * y = code(fmul(x, fdiv(M, a))). Bytes per element: 4 read (16-bit inputs: 2), 1 written; 4 written
 * per group. Operations: 1 comparison, 1 product.
 *
 * scale=1x128   a group is 32 lanes with a piece of 16 bytes each (16-bit inputs: 16 lanes), so its
 *               largest is found by shuffles, without a barrier. A thread has PIECES pieces of
 *               groups a block width apart, and loads all before it uses the first. Where rows are
 *               whole groups, group and element follow from each other without a division
 * scale=token   a block per row. A thread has up to PIECES_MAX pieces, a block width apart; one
 *               barrier finds the largest. Many rows: four pieces per thread, so that several
 *               blocks share a multiprocessor and one loads while another waits. Few rows: as few
 *               pieces as 1024 threads allow, as such a launch is two latencies and a barrier
 *
 * Rows that begin off a multiple of 16 bytes do so in x and y alike: with scale=token their first
 * and last pieces are taken in part, with scale=1x128 all are taken element by element. Rows longer
 * than the registers of a block (128 KiB) take a plain path that reads twice.
 */
#include "fp8.cuh"

enum { THREADS = 256, PIECES = 4, THREADS_MAX = 1024, PIECES_MAX = 8, FEW_ROWS = 264 };

/* ---------------------------------------------------------------- 1 x 128 -- */

/* WHOLE: a row is whole groups. Otherwise its last group is shorter by whole pieces. */
template <bool WHOLE, typename T>
static __global__ void __launch_bounds__(THREADS)
    fp8_registers_block(const T *__restrict__ x, uint8_t *__restrict__ y,
                        float *__restrict__ scales, int64_t groups, int row_groups, int columns,
                        const struct fp8_format format)
{
    enum { WIDTH = fp8_piece<T>::WIDTH, LANES = FP8_BLOCK / WIDTH, BLOCK = THREADS / LANES };
    int lane = (int)threadIdx.x % LANES;
    int64_t first = (int64_t)blockIdx.x * (BLOCK * PIECES) + threadIdx.x / LANES;
    int64_t at[PIECES]; /* the element that a piece begins with; -1: none */
    uint4 raw[PIECES];
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        int64_t group = first + k * BLOCK;
        at[k] = group * FP8_BLOCK + lane * WIDTH;
        if (!WHOLE) {
            int64_t row = group / row_groups;
            int column = (int)(group - row * row_groups) * FP8_BLOCK + lane * WIDTH;
            at[k] = column < columns ? row * columns + column : -1;
        }
        if (group >= groups) at[k] = -1;
    }
#pragma unroll
    for (int k = 0; k < PIECES; k++)
        raw[k] = at[k] >= 0 ? *(const uint4 *)(x + at[k]) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        float a = fp8_absmax(fp8_lanes_max<LANES>(fp8_fold<T>(0u, raw[k])));
        if (at[k] < 0) continue;
        if (lane == 0) scales[first + k * BLOCK] = __fdiv_rn(a, format.most);
        fp8_put<T>(format, y + at[k], raw[k], __fdiv_rn(format.most, a));
    }
}

/* A warp per group, element by element. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    fp8_registers_block_any(const T *__restrict__ x, uint8_t *__restrict__ y,
                            float *__restrict__ scales, int64_t groups, int row_groups, int columns,
                            const struct fp8_format format)
{
    enum { EACH = FP8_BLOCK / 32 };
    int64_t group = (int64_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    if (group >= groups) return;
    int64_t row = group / row_groups;
    int first = (int)(group - row * row_groups) * FP8_BLOCK, lane = (int)threadIdx.x % 32;
    const T *in = x + row * columns + first;
    uint8_t *out = y + row * columns + first;
    int left = min(columns - first, (int)FP8_BLOCK);
    float value[EACH];
    uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        value[k] = lane + 32 * k < left ? fp8_widen(in[lane + 32 * k]) : 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        most = max(most, fp8_size(value[k]));
    float a = fp8_absmax(fp8_lanes_max<32>(most));
    if (lane == 0) scales[group] = __fdiv_rn(a, format.most);
    float multiplier = __fdiv_rn(format.most, a);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (lane + 32 * k < left) out[lane + 32 * k] = fp8_one(format, value[k], multiplier);
}

/* ------------------------------------------------------------------- token -- */

/* Elements [low, high) of the piece at `in`, zeros beside them. */
template <typename T>
static __device__ __forceinline__ uint4 fp8_some(const T *in, int low, int high)
{
    union {
        uint4 piece;
        T x[fp8_piece<T>::WIDTH];
    } some = {make_uint4(0, 0, 0, 0)};
#pragma unroll
    for (int i = 0; i < fp8_piece<T>::WIDTH; i++)
        if (i >= low && i < high) some.x[i] = in[i];
    return some.piece;
}

/* Pieces are those of the whole matrix, aligned in x and y; unless rows are WHOLE pieces, a row has
 * a part of its first and of its last. */
template <bool WHOLE, int COUNT, typename T>
static __global__ void __launch_bounds__(THREADS_MAX)
    fp8_registers_token(const T *__restrict__ x, uint8_t *__restrict__ y,
                        float *__restrict__ scales, int columns, const struct fp8_format format)
{
    enum { WIDTH = fp8_piece<T>::WIDTH };
    __shared__ uint32_t warps[THREADS_MAX / 32];
    const int64_t row = (int64_t)blockIdx.x * columns;
    const int before = WHOLE ? 0 : (int)(row % WIDTH), end = before + columns;
    x += row - before;
    y += row - before;
    auto low = [&](int at) { return WHOLE ? 0 : max(before - at, 0); };
    auto high = [&](int at) { return WHOLE ? WIDTH : min(end - at, (int)WIDTH); };
    uint4 raw[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        int at = (threadIdx.x + k * blockDim.x) * WIDTH;
        if (at >= end)
            raw[k] = make_uint4(0, 0, 0, 0);
        else if (high(at) - low(at) == WIDTH)
            raw[k] = *(const uint4 *)(x + at);
        else
            raw[k] = fp8_some(x + at, low(at), high(at));
    }
    uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        most = fp8_fold<T>(most, raw[k]);
    float a = fp8_absmax(fp8_block_max(most, warps));
    if (threadIdx.x == 0) scales[blockIdx.x] = __fdiv_rn(a, format.most);
    float multiplier = __fdiv_rn(format.most, a);
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        int at = (threadIdx.x + k * blockDim.x) * WIDTH;
        if (at >= end) continue;
        if (high(at) - low(at) == WIDTH) {
            fp8_put<T>(format, y + at, raw[k], multiplier);
            continue;
        }
        float value[WIDTH];
        fp8_unpack(value, raw[k], T());
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            if (i >= low(at) && i < high(at)) y[at + i] = fp8_one(format, value[i], multiplier);
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS_MAX)
    fp8_registers_token_any(const T *__restrict__ x, uint8_t *__restrict__ y,
                            float *__restrict__ scales, int columns, const struct fp8_format format)
{
    __shared__ uint32_t warps[THREADS_MAX / 32];
    int64_t row = (int64_t)blockIdx.x * columns;
    uint32_t most = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = max(most, fp8_size(fp8_widen(x[row + i])));
    float a = fp8_absmax(fp8_block_max(most, warps));
    if (threadIdx.x == 0) scales[blockIdx.x] = __fdiv_rn(a, format.most);
    float multiplier = __fdiv_rn(format.most, a);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[row + i] = fp8_one(format, fp8_widen(x[row + i]), multiplier);
}

/* ------------------------------------------------------------------ launch -- */

struct registers {
    template <typename T> void run(struct assay_call *call, const struct fp8_format &format) const
    {
        if (call->shape->value[FP8_SCALE] == FP8_PER_128)
            by_block<T>(call, format);
        else
            by_token<T>(call, format);
    }

    template <typename T>
    static void by_block(struct assay_call *call, const struct fp8_format &format)
    {
        const int64_t *value = call->shape->value;
        int64_t columns = value[FP8_COLUMNS], row_groups = fp8_groups(call->shape);
        int64_t groups = value[FP8_ROWS] * row_groups;
        auto kernel = fp8_registers_block_any<T>;
        int64_t per_block = THREADS / 32;
        if (columns % fp8_piece<T>::WIDTH == 0) {
            kernel = columns % FP8_BLOCK == 0 ? fp8_registers_block<true, T>
                                              : fp8_registers_block<false, T>;
            per_block = THREADS / (FP8_BLOCK / fp8_piece<T>::WIDTH) * PIECES;
        }
        kernel<<<(unsigned)((groups + per_block - 1) / per_block), THREADS, 0,
                 (cudaStream_t)call->stream>>>(
            (const T *)call->buffer[FP8_X], (uint8_t *)call->buffer[FP8_Y],
            (float *)call->buffer[FP8_SCALES], groups, (int)row_groups, (int)columns, format);
    }

    template <typename T>
    static void by_token(struct assay_call *call, const struct fp8_format &format)
    {
        typedef void token_kernel(const T *, uint8_t *, float *, int, const struct fp8_format);
        token_kernel *const by_count[][2] = {
            {fp8_registers_token<false, 1, T>, fp8_registers_token<true, 1, T>},
            {fp8_registers_token<false, 2, T>, fp8_registers_token<true, 2, T>},
            {fp8_registers_token<false, 4, T>, fp8_registers_token<true, 4, T>},
            {fp8_registers_token<false, PIECES_MAX, T>, fp8_registers_token<true, PIECES_MAX, T>}};
        const int64_t rows = call->shape->value[FP8_ROWS],
                      columns = call->shape->value[FP8_COLUMNS];
        const int width = fp8_piece<T>::WIDTH;
        const bool whole = columns % width == 0;
        /* At most: a row that begins with the last element of a piece. */
        const int64_t pieces = whole ? columns / width : (columns + 2 * width - 2) / width;
        token_kernel *kernel = fp8_registers_token_any<T>;
        int64_t threads = THREADS_MAX;
        if (pieces <= THREADS_MAX * PIECES_MAX) {
            int index = rows <= FEW_ROWS ? 0 : 2;
            while ((pieces + (1 << index) - 1) >> index > THREADS_MAX)
                index++;
            kernel = by_count[index][whole];
            threads = (((pieces + (1 << index) - 1) >> index) + 31) / 32 * 32;
        }
        kernel<<<(unsigned)rows, (unsigned)threads, 0, (cudaStream_t)call->stream>>>(
            (const T *)call->buffer[FP8_X], (uint8_t *)call->buffer[FP8_Y],
            (float *)call->buffer[FP8_SCALES], (int)columns, format);
    }
};

static int launch(struct assay_call *call)
{
    return fp8_dispatch(call, registers{});
}

static const struct assay_variant variant = {
    .operation = "fp8_quantize",
    .name = "registers",
    .summary = "one pass: a group in the registers of half a warp, a warp or a block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
    .model = fp8_model,
};
ASSAY_REGISTER_VARIANT(variant);
