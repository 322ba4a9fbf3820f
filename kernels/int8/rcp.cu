/*
 * rcp.cu - the scale's reciprocal in place of a division, for 4, 8 or 16 elements per thread.
 *
 * r = frcp(s), rounded to nearest, computed once by each thread:
 *   rcp4_muladd    fadd(fmul(x, r), z), rounded twice
 *   rcp4_fma       fma(x, r, z), as all below
 *   rcp8_adjacent  elements 8t to 8t + 7: lanes are 32 bytes apart (fp32), so a warp's 16-byte load
 *                  touches 32 sectors and uses half of each; the second load finds the other halves
 *                  in L1, if they are still there
 *   rcp8_strided   elements 4t to 4t + 3, and the same one block width further: each load of a warp
 *                  covers 512 bytes without a gap
 *   rcp16          16 neighbouring elements, the width of vLLM's vectorised kernels: four 16-byte
 *                  loads (bf16: four of 8) and one 16-byte store. Stores are coalesced. Lanes load
 *                  64 bytes apart, so a load uses a quarter of each line that it touches and relies
 *                  on L1 for the rest
 *   cvtsat16       as rcp16, but each code by one PTX cvt.rni.sat.s8.f32 (NaN gives 0), then packed
 *                  by bytes. All others: F2I.RNI to 32 bits each, packed and saturated two at a
 *                  time
 *   gridstride     as many blocks as are resident at once; each thread takes 4 elements per step
 *                  and steps by the width of the grid. Starting blocks costs little then, and r is
 *                  computed once for very many elements, but a thread has only one load in flight
 *                  (the next waits for the loop), and the kernel ends with its slowest
 *                  multiprocessor
 *
 *   fdividef4      fadd(fdividef(x, s), z): the hardware's approximate reciprocal, of s, for each
 *                  element, good to 2 units in the last place. Its bits depend on the hardware, so
 *                  there is no host model, and only the reference judges it
 *
 * A thread issues all its loads before it uses the first. Bytes per element: 4 read (bf16: 2), 1
 * written. Operations: 1 product and 1 addition, in two instructions or one (fdividef4: and a
 * reciprocal on the special-function unit). Neither matters against the 31 instructions that an
 * H200 could issue in the time that memory takes for an element.
 */
#include <stdlib.h>

#include "int8.cuh"

enum { THREADS = 256 };

enum formula { MULADD, FMA, CVTSAT, FDIVIDE };

/* What an element is multiplied by, or divided. */
template <enum formula BY> static __device__ __forceinline__ float factor(float scale)
{
    return BY == FDIVIDE ? scale : __frcp_rn(scale);
}

template <enum formula BY>
static __device__ __forceinline__ float quotient(float x, float factor, float zero)
{
    if (BY == FDIVIDE) return __fadd_rn(__fdividef(x, factor), zero);
    return BY == MULADD ? __fadd_rn(__fmul_rn(x, factor), zero) : __fmaf_rn(x, factor, zero);
}

static __device__ __forceinline__ uint32_t convert_saturating(float q)
{
    int code;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(code) : "f"(q));
    return (uint32_t)code & 0xff;
}

template <enum formula BY>
static __device__ __forceinline__ uint32_t quantize4(float4 v, float factor, float zero)
{
    float4 q = make_float4(quotient<BY>(v.x, factor, zero), quotient<BY>(v.y, factor, zero),
                           quotient<BY>(v.z, factor, zero), quotient<BY>(v.w, factor, zero));
    if (BY != CVTSAT) return int8_pack(q);
    return convert_saturating(q.x) | convert_saturating(q.y) << 8 | convert_saturating(q.z) << 16 |
           convert_saturating(q.w) << 24;
}

/* Elements [begin, end) one by one. */
template <enum formula BY, typename T>
static __device__ __forceinline__ void quantize_each(const T *__restrict__ x,
                                                     int8_t *__restrict__ y, int64_t begin,
                                                     int64_t end, float factor, float zero)
{
    for (int64_t i = begin; i < end; i++) {
        float q = quotient<BY>(int8_float(x[i]), factor, zero);
        y[i] = BY == CVTSAT ? (int8_t)convert_saturating(q) : int8_round(q);
    }
}

/* ------------------------------------------------------------- adjacent -- */

template <enum formula BY, typename T>
static __device__ __forceinline__ void adjacent4(const T *__restrict__ x, int8_t *__restrict__ y,
                                                 int64_t n, float scale, float zero)
{
    int64_t i = 4 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    float by = factor<BY>(scale);
    if (i + 4 <= n) {
        float4 v = int8_load4(x + i);
        int8_store4(y + i, quantize4<BY>(v, by, zero));
        return;
    }
    quantize_each<BY>(x, y, i, n, by, zero);
}

template <enum formula BY, typename T>
static __device__ __forceinline__ void adjacent16(const T *__restrict__ x, int8_t *__restrict__ y,
                                                  int64_t n, float scale, float zero)
{
    int64_t i = 16 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    float by = factor<BY>(scale);
    if (i + 16 <= n) {
        float4 a = int8_load4(x + i);
        float4 b = int8_load4(x + i + 4);
        float4 c = int8_load4(x + i + 8);
        float4 d = int8_load4(x + i + 12);
        *(uint4 *)(y + i) = make_uint4(quantize4<BY>(a, by, zero), quantize4<BY>(b, by, zero),
                                       quantize4<BY>(c, by, zero), quantize4<BY>(d, by, zero));
        return;
    }
    quantize_each<BY>(x, y, i, n, by, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp4_muladd(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    adjacent4<MULADD>(x, y, n, scale, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp4_fma(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    adjacent4<FMA>(x, y, n, scale, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    fdividef4(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    adjacent4<FDIVIDE>(x, y, n, scale, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp8_adjacent(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale,
                  float zero)
{
    int64_t i = 8 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    float inverse = __frcp_rn(scale);
    if (i + 8 <= n) {
        float4 a = int8_load4(x + i);
        float4 b = int8_load4(x + i + 4);
        int8_store4(y + i, quantize4<FMA>(a, inverse, zero));
        int8_store4(y + i + 4, quantize4<FMA>(b, inverse, zero));
        return;
    }
    quantize_each<FMA>(x, y, i, n, inverse, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp16(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    adjacent16<FMA>(x, y, n, scale, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    cvtsat16(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    adjacent16<CVTSAT>(x, y, n, scale, zero);
}

/* -------------------------------------------------------------- strided -- */

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    rcp8_strided(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale,
                 float zero)
{
    int64_t i = (int64_t)blockIdx.x * THREADS * 8 + 4 * threadIdx.x;
    int64_t j = i + 4 * THREADS;
    float inverse = __frcp_rn(scale);
    if (j + 4 <= n) {
        float4 a = int8_load4(x + i);
        float4 b = int8_load4(x + j);
        int8_store4(y + i, quantize4<FMA>(a, inverse, zero));
        int8_store4(y + j, quantize4<FMA>(b, inverse, zero));
        return;
    }
    quantize_each<FMA>(x, y, i, min(i + 4, n), inverse, zero);
    quantize_each<FMA>(x, y, j, min(j + 4, n), inverse, zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    gridstride(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t threads = (int64_t)gridDim.x * THREADS;
    float inverse = __frcp_rn(scale);
    int64_t vectors = n / 4;
    for (int64_t i = thread; i < vectors; i += threads) {
        float4 v = int8_load4(x + 4 * i);
        int8_store4(y + 4 * i, quantize4<FMA>(v, inverse, zero));
    }
    int64_t rest = 4 * vectors + thread;
    if (rest < n) y[rest] = int8_round(quotient<FMA>(int8_float(x[rest]), inverse, zero));
}

/* ------------------------------------------------------------- variants -- */

/* As many blocks as cover the tensor, with WIDTH elements per thread. */
template <int WIDTH, int8_kernel_fp32 *FP32, int8_kernel_bf16 *BF16>
static int launch(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), FP32, BF16);
}

/* Blocks resident on the whole device at once. */
struct residency {
    int64_t blocks;
};

static int setup_gridstride(struct assay_call *call)
{
    int resident;
    bool bf16 = call->shape->value[DIM_INPUT] == INPUT_BF16;
    cudaError_t error = bf16 ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &resident, gridstride<uint16_t>, THREADS, 0)
                             : cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &resident, gridstride<float>, THREADS, 0);
    if (assay_cuda(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") < 0) return -1;
    struct residency *residency = (struct residency *)malloc(sizeof *residency);
    if (!residency) return assay_error("no memory");
    residency->blocks = (int64_t)assay_card()->multiprocessors * resident;
    call->state = residency;
    return 0;
}

static int launch_gridstride(struct assay_call *call)
{
    const struct residency *residency = (const struct residency *)call->state;
    int64_t needed = int8_blocks(call->shape->value[DIM_N], THREADS * 4);
    unsigned blocks = (unsigned)(needed < residency->blocks ? needed : residency->blocks);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), gridstride, gridstride);
}

static void teardown_gridstride(struct assay_call *call)
{
    free(call->state);
}

typedef decltype(assay_variant::launch) launcher;
typedef decltype(assay_variant::model) host_model;

static constexpr struct assay_variant named(const char *name, const char *summary, launcher launch,
                                            host_model model = int8_model_rcp_fma)
{
    return {
        .operation = "int8_quantize",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .launch = launch,
        .model = model,
    };
}

static constexpr struct assay_variant muladd =
    named("rcp4_muladd", "4 elements per thread, reciprocal, product and sum apart",
          launch<4, rcp4_muladd, rcp4_muladd>, int8_model_rcp_muladd);
static constexpr struct assay_variant fma4 =
    named("rcp4_fma", "4 elements per thread, reciprocal, fused multiply-add",
          launch<4, rcp4_fma, rcp4_fma>);
static constexpr struct assay_variant divide4 =
    named("fdividef4", "4 elements per thread, approximate division",
          launch<4, fdividef4, fdividef4>, NULL);
static constexpr struct assay_variant adjacent8 =
    named("rcp8_adjacent", "8 adjacent elements per thread, reciprocal, fused multiply-add",
          launch<8, rcp8_adjacent, rcp8_adjacent>);
static constexpr struct assay_variant strided8 =
    named("rcp8_strided", "8 elements in two coalesced loads per thread, fused multiply-add",
          launch<8, rcp8_strided, rcp8_strided>);
static constexpr struct assay_variant packed16 =
    named("rcp16", "16 adjacent elements per thread, one 16-byte store", launch<16, rcp16, rcp16>);
static constexpr struct assay_variant saturating16 =
    named("cvtsat16", "as rcp16, rounding and saturating in one conversion",
          launch<16, cvtsat16, cvtsat16>);
ASSAY_REGISTER_VARIANT(muladd);
ASSAY_REGISTER_VARIANT(fma4);
ASSAY_REGISTER_VARIANT(divide4);
ASSAY_REGISTER_VARIANT(adjacent8);
ASSAY_REGISTER_VARIANT(strided8);
ASSAY_REGISTER_VARIANT(packed16);
ASSAY_REGISTER_VARIANT(saturating16);

static const struct assay_variant resident = {
    .operation = "int8_quantize",
    .name = "gridstride",
    .summary = "a resident grid, 4 elements per thread and step, fused multiply-add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup_gridstride,
    .launch = launch_gridstride,
    .teardown = teardown_gridstride,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(resident);
