/*
 * rcp8.cu - eight elements per thread in the two possible layouts.
 *
 *   rcp8_adjacent  elements 8t to 8t + 7: lanes are 32 bytes apart (fp32), so a warp's 16-byte
 *                  load touches 32 sectors and uses half of each; the second load finds the other
 *                  halves in L1, if they are still there
 *   rcp8_strided   elements 4t to 4t + 3, and the same one block width further: each load of a
 *                  warp covers 512 bytes without a gap
 *
 * Formula of both: fma(x, r, z), r = frcp(s), once per thread.
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 fused multiply-add. Both loads are
 * issued before either is used.
 */
#include "int8.cuh"

enum { THREADS = 256, WIDTH = 8 };

static __device__ __forceinline__ uint32_t quantize4(float4 v, float inverse, float zero)
{
    return int8_pack(make_float4(__fmaf_rn(v.x, inverse, zero), __fmaf_rn(v.y, inverse, zero),
                                 __fmaf_rn(v.z, inverse, zero), __fmaf_rn(v.w, inverse, zero)));
}

/* Elements [begin, end) one by one. */
template <typename T>
static __device__ __forceinline__ void quantize_each(const T *__restrict__ x,
                                                     int8_t *__restrict__ y, int64_t begin,
                                                     int64_t end, float inverse, float zero)
{
    for (int64_t i = begin; i < end; i++)
        y[i] = int8_round(__fmaf_rn(int8_float(x[i]), inverse, zero));
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp8_adjacent(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale,
                  float zero)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    float inverse = __frcp_rn(scale);
    if (i + WIDTH <= n) {
        float4 a = int8_load4(x + i);
        float4 b = int8_load4(x + i + 4);
        int8_store4(y + i, quantize4(a, inverse, zero));
        int8_store4(y + i + 4, quantize4(b, inverse, zero));
        return;
    }
    quantize_each(x, y, i, n, inverse, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp8_strided(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale,
                 float zero)
{
    int64_t i = (int64_t)blockIdx.x * THREADS * WIDTH + 4 * threadIdx.x;
    int64_t j = i + 4 * THREADS;
    float inverse = __frcp_rn(scale);
    if (j + 4 <= n) {
        float4 a = int8_load4(x + i);
        float4 b = int8_load4(x + j);
        int8_store4(y + i, quantize4(a, inverse, zero));
        int8_store4(y + j, quantize4(b, inverse, zero));
        return;
    }
    quantize_each(x, y, i, min(i + 4, n), inverse, zero);
    quantize_each(x, y, j, min(j + 4, n), inverse, zero);
}

static int launch_adjacent(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    float scale = int8_scale(call->shape);
    return int8_launch(call, blocks, THREADS, scale, rcp8_adjacent, rcp8_adjacent);
}

static int launch_strided(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    float scale = int8_scale(call->shape);
    return int8_launch(call, blocks, THREADS, scale, rcp8_strided, rcp8_strided);
}

static const struct assay_variant adjacent = {
    .operation = "int8_quantize",
    .name = "rcp8_adjacent",
    .summary = "8 adjacent elements per thread, reciprocal, fused multiply-add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_adjacent,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(adjacent);

static const struct assay_variant strided = {
    .operation = "int8_quantize",
    .name = "rcp8_strided",
    .summary = "8 elements in two coalesced loads per thread, fused multiply-add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_strided,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(strided);
