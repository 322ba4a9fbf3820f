/*
 * rcp4.cu - four elements per thread, multiplied by the reciprocal; product and sum are rounded
 * separately (rcp4_muladd) or fused (rcp4_fma).
 *
 * Formulas, r = frcp(s) rounded to nearest, computed once by each thread:
 *   rcp4_muladd  fadd(fmul(x, r), z)
 *   rcp4_fma     fma(x, r, z)
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 product and 1 addition, in two
 * instructions or one. Neither matters against the 31 instructions that an H200 could issue in the
 * time that memory takes for an element.
 */
#include "int8.cuh"

enum { THREADS = 256, WIDTH = 4 };

template <bool FUSED>
static __device__ __forceinline__ float quotient(float x, float inverse, float zero)
{
    return FUSED ? __fmaf_rn(x, inverse, zero) : __fadd_rn(__fmul_rn(x, inverse), zero);
}

template <bool FUSED, typename T>
static __device__ __forceinline__ void quantize4(const T *__restrict__ x, int8_t *__restrict__ y,
                                                 int64_t n, float scale, float zero)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    float inverse = __frcp_rn(scale);
    if (i + WIDTH <= n) {
        float4 v = int8_load4(x + i);
        int8_store4(y + i, int8_pack(make_float4(quotient<FUSED>(v.x, inverse, zero),
                                                 quotient<FUSED>(v.y, inverse, zero),
                                                 quotient<FUSED>(v.z, inverse, zero),
                                                 quotient<FUSED>(v.w, inverse, zero))));
        return;
    }
    for (; i < n; i++)
        y[i] = int8_round(quotient<FUSED>(int8_float(x[i]), inverse, zero));
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp4_muladd(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    quantize4<false>(x, y, n, scale, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp4_fma(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    quantize4<true>(x, y, n, scale, zero);
}

static int launch_muladd(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), rcp4_muladd, rcp4_muladd);
}

static int launch_fma(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), rcp4_fma, rcp4_fma);
}

static const struct assay_variant muladd = {
    .operation = "int8_quantize",
    .name = "rcp4_muladd",
    .summary = "4 elements per thread, reciprocal, product and sum apart",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_muladd,
    .model = int8_model_rcp_muladd,
};
ASSAY_REGISTER_VARIANT(muladd);

static const struct assay_variant fma_variant = {
    .operation = "int8_quantize",
    .name = "rcp4_fma",
    .summary = "4 elements per thread, reciprocal, fused multiply-add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_fma,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(fma_variant);
