/*
 * rcp16.cu - sixteen elements per thread and one 16-byte store, rounding by F2I and a saturating
 * pack (rcp16) or by one saturating conversion (cvtsat16).
 *
 * A thread has 16 neighbouring elements, the width of vLLM's vectorised kernels: four 16-byte loads
 * of fp32 (bf16: four of 8), one 16-byte store. Stores are coalesced. Lanes load 64 bytes apart, so
 * a load uses a quarter of each line that it touches and relies on L1 for the rest.
 *
 * Formula of both: fma(x, r, z), r = frcp(s), once per thread. The last step:
 *   rcp16     F2I.RNI to 32 bits each, packed and saturated two at a time
 *   cvtsat16  PTX cvt.rni.sat.s8.f32 each (NaN gives 0), then packed by bytes
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 fused multiply-add.
 */
#include "int8.cuh"

enum { THREADS = 256, WIDTH = 16 };

static __device__ __forceinline__ uint32_t convert_saturating(float q)
{
    int code;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(code) : "f"(q));
    return (uint32_t)code & 0xff;
}

template <bool SATURATING>
static __device__ __forceinline__ uint32_t quantize4(float4 v, float inverse, float zero)
{
    float4 q = make_float4(__fmaf_rn(v.x, inverse, zero), __fmaf_rn(v.y, inverse, zero),
                           __fmaf_rn(v.z, inverse, zero), __fmaf_rn(v.w, inverse, zero));
    if (!SATURATING) return int8_pack(q);
    return convert_saturating(q.x) | convert_saturating(q.y) << 8 | convert_saturating(q.z) << 16 |
           convert_saturating(q.w) << 24;
}

template <bool SATURATING, typename T>
static __device__ __forceinline__ void quantize16(const T *__restrict__ x, int8_t *__restrict__ y,
                                                  int64_t n, float scale, float zero)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    float inverse = __frcp_rn(scale);
    if (i + WIDTH <= n) {
        float4 a = int8_load4(x + i);
        float4 b = int8_load4(x + i + 4);
        float4 c = int8_load4(x + i + 8);
        float4 d = int8_load4(x + i + 12);
        *(uint4 *)(y + i) = make_uint4(
            quantize4<SATURATING>(a, inverse, zero), quantize4<SATURATING>(b, inverse, zero),
            quantize4<SATURATING>(c, inverse, zero), quantize4<SATURATING>(d, inverse, zero));
        return;
    }
    for (; i < n; i++) {
        float q = __fmaf_rn(int8_float(x[i]), inverse, zero);
        y[i] = SATURATING ? (int8_t)convert_saturating(q) : int8_round(q);
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp16(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    quantize16<false>(x, y, n, scale, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    cvtsat16(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    quantize16<true>(x, y, n, scale, zero);
}

static int launch_rcp16(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), rcp16, rcp16);
}

static int launch_cvtsat16(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), cvtsat16, cvtsat16);
}

static const struct assay_variant packed = {
    .operation = "int8_quantize",
    .name = "rcp16",
    .summary = "16 adjacent elements per thread, one 16-byte store",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_rcp16,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(packed);

static const struct assay_variant saturating = {
    .operation = "int8_quantize",
    .name = "cvtsat16",
    .summary = "as rcp16, rounding and saturating in one conversion",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_cvtsat16,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(saturating);
