/*
 * twopass.cu - fp8_quantize in its straight form: a block per row, element by element, each group
 * read twice.
 *
 * Formula: a = the largest finite |x|, at least 2^-100; s = fdiv(a, M);
 * y = code(fmul(x, fdiv(M, a))). Bytes per element: twice 4 read (16-bit inputs: 2), the second
 * time mostly from L1 or L2; 1 written, and 4 per group. Operations: 1 comparison, 1 product.
 *
 * With scale=token all threads of the block share a row, with scale=1x128 the warps take the groups
 * of the row in turns.
 */
#include "fp8.cuh"

enum { THREADS = 256, WARPS = THREADS / 32 };

template <typename T>
static __device__ uint32_t largest(const T *x, int64_t begin, int64_t end, int first, int step)
{
    uint32_t most = 0;
    for (int64_t i = begin + first; i < end; i += step)
        most = max(most, fp8_size(fp8_widen(x[i])));
    return most;
}

template <typename T>
static __device__ void encode(const T *x, uint8_t *y, int64_t begin, int64_t end, int first,
                              int step, const struct fp8_format &format, float multiplier)
{
    for (int64_t i = begin + first; i < end; i += step)
        y[i] = fp8_one(format, fp8_widen(x[i]), multiplier);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    fp8_twopass_token(const T *__restrict__ x, uint8_t *__restrict__ y, float *__restrict__ scales,
                      int64_t columns, const struct fp8_format format)
{
    __shared__ uint32_t warps[WARPS];
    int64_t begin = blockIdx.x * columns, end = begin + columns;
    float a = fp8_absmax(fp8_block_max(largest(x, begin, end, (int)threadIdx.x, THREADS), warps));
    if (threadIdx.x == 0) scales[blockIdx.x] = __fdiv_rn(a, format.most);
    encode<T>(x, y, begin, end, (int)threadIdx.x, THREADS, format, __fdiv_rn(format.most, a));
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    fp8_twopass_block(const T *__restrict__ x, uint8_t *__restrict__ y, float *__restrict__ scales,
                      int64_t columns, const struct fp8_format format)
{
    int64_t row = blockIdx.x * columns, groups = (columns + FP8_BLOCK - 1) / FP8_BLOCK;
    int lane = (int)threadIdx.x % 32;
    for (int64_t g = threadIdx.x / 32; g < groups; g += WARPS) {
        int64_t begin = row + g * FP8_BLOCK, end = min(begin + FP8_BLOCK, row + columns);
        float a = fp8_absmax(fp8_lanes_max<32>(largest(x, begin, end, lane, 32)));
        if (lane == 0) scales[blockIdx.x * groups + g] = __fdiv_rn(a, format.most);
        encode<T>(x, y, begin, end, lane, 32, format, __fdiv_rn(format.most, a));
    }
}

struct twopass {
    template <typename T> int run(struct assay_call *call, const struct fp8_format &format) const
    {
        const int64_t *value = call->shape->value;
        auto kernel = value[FP8_SCALE] == FP8_PER_128 ? fp8_twopass_block<T> : fp8_twopass_token<T>;
        kernel<<<(unsigned)value[FP8_ROWS], THREADS, 0, (cudaStream_t)call->stream>>>(
            (const T *)call->buffer[FP8_X], (uint8_t *)call->buffer[FP8_Y],
            (float *)call->buffer[FP8_SCALES], value[FP8_COLUMNS], format);
        return assay_launched();
    }
};

static int launch(struct assay_call *call)
{
    return fp8_dispatch(call, twopass{});
}

static const struct assay_variant variant = {
    .operation = "fp8_quantize",
    .name = "twopass",
    .summary = "a block per row, element by element, each group read twice",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
    .model = fp8_model,
};
ASSAY_REGISTER_VARIANT(variant);
