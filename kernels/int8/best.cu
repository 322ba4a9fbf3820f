/*
 * best.cu - the streaming kernel: as fast as memory can be read and written.
 *
 * Formula: fma(x, r, z), r = 1 / s rounded to nearest, computed once on the host.
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 fused multiply-add.
 *
 * Why it is fast. By Little's law 4.3 TB/s at about 700 ns of latency needs 3 MB in flight, 23 KB
 * per multiprocessor of an H200. Here a full multiprocessor has 2048 threads with 4 loads of 16
 * bytes each, 128 KB. Every load and store of a warp covers whole sectors. Blocks are short-lived
 * and many, so that the hardware balances the end; a fixed grid with a stride waits for its slowest
 * multiprocessor instead. The arithmetic is hidden: 8 instructions for 4 elements, load and store
 * included.
 *
 * A tensor too small to give every multiprocessor two such blocks is bound by latency alone, and
 * is cut into blocks of one load per thread.
 */
#include "int8.cuh"
#include "kernels/cuda/sm_limits.cuh"

enum { THREADS = 256, GROUPS = 4 };

struct multiply_add {
    float inverse, zero;

    __device__ __forceinline__ uint32_t pack(float4 v) const
    {
        return int8_pack(make_float4(__fmaf_rn(v.x, inverse, zero), __fmaf_rn(v.y, inverse, zero),
                                     __fmaf_rn(v.z, inverse, zero), __fmaf_rn(v.w, inverse, zero)));
    }

    __device__ __forceinline__ int8_t one(float v) const
    {
        return int8_round(__fmaf_rn(v, inverse, zero));
    }
};

template <typename T>
static __global__ void __launch_bounds__(THREADS, SM_THREADS / THREADS)
    best_large(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float inverse,
               float zero)
{
    int8_stream<THREADS, GROUPS>(x, y, n, multiply_add{inverse, zero});
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    best_small(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float inverse,
               float zero)
{
    int8_stream<THREADS, 1>(x, y, n, multiply_add{inverse, zero});
}

/* Elements that give each multiprocessor two blocks of best_large. */
static int64_t large_from(int64_t input)
{
    return (int64_t)2 * assay_card()->multiprocessors * THREADS * GROUPS *
           (16 / int8_input_bytes(input));
}

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[DIM_N];
    int64_t per_load = THREADS * 16 / int8_input_bytes(call->shape->value[DIM_INPUT]);
    float inverse = 1.0f / int8_scale(call->shape);
    if (n < large_from(call->shape->value[DIM_INPUT]))
        return int8_launch(call, int8_blocks(n, per_load), THREADS, inverse, best_small,
                           best_small);
    return int8_launch(call, int8_blocks(n, per_load * GROUPS), THREADS, inverse, best_large,
                       best_large);
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "best",
    .summary = "4 loads of 16 bytes in flight per thread, all coalesced",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(variant);
