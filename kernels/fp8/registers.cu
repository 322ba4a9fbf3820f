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
 * scale=token   a row is a few lanes, a warp, a block or a cluster, as its length and the number of
 *               rows ask for. A thread has up to eight pieces. Many rows: four, so that several
 *               blocks share a multiprocessor and one loads while another waits. Few rows: as few
 *               as 1024 threads allow, as such a launch is two latencies and a barrier
 *
 * Rows may begin off a multiple of 16 bytes: with scale=token the elements beside whole pieces are
 * taken one by one (row_codes.cuh), with scale=1x128 all are.
 */
#include "fp8.cuh"
#include "kernels/cuda/row_codes_launch.cuh"

enum { THREADS = 256, PIECES = 4 };

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

/* The operation of row_codes.cuh. */
template <typename T> struct fp8_row_codes {
    typedef T element;
    typedef uint8_t code;
    int columns;
    struct fp8_format format;

    static __device__ __forceinline__ uint32_t size(T x)
    {
        return fp8_size(fp8_widen(x));
    }
    static __device__ __forceinline__ uint32_t fold(uint32_t most, const uint4 &piece)
    {
        return fp8_fold<T>(most, piece);
    }
    static __device__ __forceinline__ uint32_t block_max(uint32_t most, uint32_t *warps)
    {
        return fp8_block_max(most, warps);
    }
    __device__ __forceinline__ float scale(uint32_t most) const
    {
        return __fdiv_rn(fp8_absmax(most), format.most);
    }
    __device__ __forceinline__ float multiplier(uint32_t most) const
    {
        return __fdiv_rn(format.most, fp8_absmax(most));
    }
    __device__ __forceinline__ void put(uint8_t *y, int at, const uint4 &piece,
                                        float multiplier) const
    {
        fp8_put<T>(format, y + at * fp8_piece<T>::WIDTH, piece, multiplier);
    }
    __device__ __forceinline__ uint8_t one(T x, float multiplier) const
    {
        return fp8_one(format, fp8_widen(x), multiplier);
    }
};

/* ------------------------------------------------------------------ launch -- */

struct registers {
    template <typename T> int run(struct assay_call *call, const struct fp8_format &format) const
    {
        if (call->shape->value[FP8_SCALE] == FP8_PER_128) return by_block<T>(call, format);
        const int64_t *value = call->shape->value;
        return row_codes_launch(call->buffer[FP8_X], call->buffer[FP8_Y],
                                (float *)call->buffer[FP8_SCALES], value[FP8_ROWS],
                                fp8_row_codes<T>{(int)value[FP8_COLUMNS], format},
                                (cudaStream_t)call->stream);
    }

    template <typename T>
    static int by_block(struct assay_call *call, const struct fp8_format &format)
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
        return assay_launched();
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
