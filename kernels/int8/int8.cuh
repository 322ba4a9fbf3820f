/*
 * int8.cuh - what the int8 kernels share: loads of either input type, the last step (round,
 * saturate, pack), the launch, and the streaming loop of the best kernel and of the copy that
 * bounds it.
 *
 * T is float, or uint16_t for the bits of a bf16. Arithmetic is written with intrinsics, because
 * nvcc would fuse a * b + c.
 */
#pragma once

#include "int8.h"

/* ---------------------------------------------------------------- loads -- */

static __device__ __forceinline__ float int8_float(float x)
{
    return x;
}

static __device__ __forceinline__ float int8_float(uint16_t half)
{
    return __uint_as_float((uint32_t)half << 16);
}

/* Two bf16 of one word, the lower half first. */
static __device__ __forceinline__ float2 int8_float2(uint32_t pair)
{
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

/* Four elements at `x`: one load of 16 bytes (fp32) or 8 (bf16), so aligned. */
static __device__ __forceinline__ float4 int8_load4(const float *__restrict__ x)
{
    return *(const float4 *)x;
}

static __device__ __forceinline__ float4 int8_load4(const uint16_t *__restrict__ x)
{
    uint2 raw = *(const uint2 *)x;
    float2 low = int8_float2(raw.x);
    float2 high = int8_float2(raw.y);
    return make_float4(low.x, low.y, high.x, high.y);
}

/* --------------------------------------------------- round and saturate -- */

/* F2I rounds half to even, saturates and turns NaN into 0; clamping the integer
 * keeps that 0, where fminf(NaN, 127) would not. */
static __device__ __forceinline__ int8_t int8_round(float q)
{
    return (int8_t)max(-128, min(127, __float2int_rn(q)));
}

/* Four codes in a word, the first lowest: four F2I and two packs that saturate. */
static __device__ __forceinline__ uint32_t int8_pack(float4 q)
{
    uint32_t high, word;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
        : "=r"(high)
        : "r"(__float2int_rn(q.w)), "r"(__float2int_rn(q.z)), "r"(0));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
        : "=r"(word)
        : "r"(__float2int_rn(q.y)), "r"(__float2int_rn(q.x)), "r"(high));
    return word;
}

static __device__ __forceinline__ void int8_store4(int8_t *__restrict__ y, uint32_t codes)
{
    *(uint32_t *)y = codes;
}

/* --------------------------------------------------------------- launch -- */

typedef void int8_kernel_fp32(const float *x, int8_t *y, int64_t n, float scale, float zero);
typedef void int8_kernel_bf16(const uint16_t *x, int8_t *y, int64_t n, float scale, float zero);

/* Blocks of `per_block` elements that cover n. */
static inline unsigned int8_blocks(int64_t n, int64_t per_block)
{
    return (unsigned)((n + per_block - 1) / per_block);
}

/* Enqueue the instance for the input's type on `blocks` blocks. */
static inline int int8_launch(struct assay_call *call, unsigned blocks, int threads, float scale,
                              int8_kernel_fp32 *fp32, int8_kernel_bf16 *bf16)
{
    const int64_t *value = call->shape->value;
    cudaStream_t stream = (cudaStream_t)call->stream;
    const void *x = call->buffer[BUF_X];
    int8_t *y = (int8_t *)call->buffer[BUF_Y];
    float zero = int8_zero(call->shape);
    if (value[DIM_INPUT] == INPUT_BF16)
        bf16<<<blocks, threads, 0, stream>>>((const uint16_t *)x, y, value[DIM_N], scale, zero);
    else
        fp32<<<blocks, threads, 0, stream>>>((const float *)x, y, value[DIM_N], scale, zero);
    return assay_launched();
}

/* ------------------------------------------------------------ streaming -- */

/*
 * The loop of a kernel that reads and writes everything once. A group is 16 bytes of input (4 fp32,
 * 8 bf16). A block takes GROUPS * THREADS successive groups; thread t takes groups t, t + THREADS,
 * ..., so that each load of a warp covers four whole cache lines, and issues all GROUPS loads
 * before it uses the first. Loads are not marked evict-first: that cost an H200 7 % of the
 * bandwidth with these reads and writes (4.17 instead of 4.48 TB/s), though reads alone gain 1.5 %.
 *
 * `op.pack(float4)` makes one output word from four inputs, `op.one(float)` one byte from one.
 * Grid: int8_blocks(n, THREADS * GROUPS * 16 / sizeof(T)) blocks of THREADS.
 */
template <typename Op>
static __device__ __forceinline__ void int8_put_group(const float *, int8_t *y, int64_t group,
                                                      uint4 raw, Op op)
{
    ((uint32_t *)y)[group] = op.pack(make_float4(__uint_as_float(raw.x), __uint_as_float(raw.y),
                                                 __uint_as_float(raw.z), __uint_as_float(raw.w)));
}

template <typename Op>
static __device__ __forceinline__ void int8_put_group(const uint16_t *, int8_t *y, int64_t group,
                                                      uint4 raw, Op op)
{
    float2 a = int8_float2(raw.x);
    float2 b = int8_float2(raw.y);
    float2 c = int8_float2(raw.z);
    float2 d = int8_float2(raw.w);
    ((uint2 *)y)[group] = make_uint2(op.pack(make_float4(a.x, a.y, b.x, b.y)),
                                     op.pack(make_float4(c.x, c.y, d.x, d.y)));
}

template <int THREADS, int GROUPS, typename T, typename Op>
static __device__ __forceinline__ void int8_stream(const T *__restrict__ x, int8_t *__restrict__ y,
                                                   int64_t n, Op op)
{
    const int width = 16 / sizeof(T);
    int64_t groups = n / width;
    int64_t base = (int64_t)blockIdx.x * (THREADS * GROUPS);
    int64_t first = base + threadIdx.x;
    const uint4 *in = (const uint4 *)x + first;
    int8_t *out = y + first * width;
    uint4 raw[GROUPS];
    if (base + THREADS * GROUPS <= groups) {
#pragma unroll
        for (int k = 0; k < GROUPS; k++)
            raw[k] = in[k * THREADS];
#pragma unroll
        for (int k = 0; k < GROUPS; k++)
            int8_put_group(x, out, k * THREADS, raw[k], op);
        return;
    }
    /* The last block may be short. It also issues all loads before the first use, those of elements
     * behind the last group too: otherwise the whole kernel would wait for this block. */
    int left = (int)(groups - base) - (int)threadIdx.x;
    int64_t rest = groups * width + threadIdx.x;
    T single = rest < n ? x[rest] : T();
#pragma unroll
    for (int k = 0; k < GROUPS; k++)
        if (k * THREADS < left) raw[k] = in[k * THREADS];
#pragma unroll
    for (int k = 0; k < GROUPS; k++)
        if (k * THREADS < left) int8_put_group(x, out, k * THREADS, raw[k], op);
    if (rest < n) y[rest] = op.one(int8_float(single));
}
