/*
 * linear.cuh - what the family's own linear kernels share: setup and launch of a variant, and
 * reading a weight in either layout.
 */
#pragma once

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/gpt.cuh"
#include "linear_products.h"
#include "linear_steps.h"

/* w[n][k], from either layout. */
template <typename T>
static __device__ __forceinline__ float linear_weight(const struct linear_operands &operands, int n,
                                                      int k)
{
    int64_t at =
        operands.transposed ? (int64_t)k * operands.leading + n : (int64_t)n * operands.leading + k;
    return gpt_float(__ldg((const T *)operands.w + at));
}

/* The epilogue of four outputs. */
template <enum linear_finish FINISH> static __device__ __forceinline__ float4 linear_act(float4 sum)
{
    if (FINISH == LINEAR_GELU) {
        gpt_gelu_two(sum.x, sum.y);
        gpt_gelu_two(sum.z, sum.w);
    }
    return sum;
}

/* Finish one output: add the bias if it is fused, apply the epilogue, round and store. */
template <typename T, enum linear_finish FINISH = LINEAR_PLAIN>
static __device__ __forceinline__ void linear_put(const struct linear_operands &operands,
                                                  int64_t row, int column, float sum)
{
    if (row >= operands.m || column >= operands.n) return;
    if (operands.bias) sum += gpt_float(__ldg((const T *)operands.bias + column));
    if (FINISH == LINEAR_GELU) sum = gpt_gelu_fast(sum);
    gpt_put((T *)operands.y + row * operands.n + column, sum);
}

/* The biases of two neighbouring columns, the first one even; 0 outside, and without a bias. */
static __device__ __forceinline__ float2 linear_bias_pair(const float *bias, int column, int n)
{
    if (bias && column + 1 < n) return __ldg((const float2 *)(bias + column));
    return make_float2(bias && column < n ? __ldg(bias + column) : 0.0f, 0.0f);
}

template <typename T>
static __device__ __forceinline__ float2 linear_bias_pair(const T *bias, int column, int n)
{
    if (bias && column + 1 < n) return gpt_unpack(T(), __ldg((const uint32_t *)(bias + column)));
    return make_float2(bias && column < n ? gpt_float(__ldg(bias + column)) : 0.0f, 0.0f);
}

/* Add the biases to two sums and apply the epilogue. */
static __device__ __forceinline__ float2 linear_finish_pair(enum linear_finish finish, float first,
                                                            float second, float2 bias)
{
    float2 pair = make_float2(first + bias.x, second + bias.y);
    if (finish == LINEAR_GELU) gpt_gelu_two(pair.x, pair.y);
    return pair;
}

static __device__ __forceinline__ void linear_put_pair(uint16_t *y, float2 pair)
{
    *(uint32_t *)y = bf16_pair(pair.x, pair.y);
}

static __device__ __forceinline__ void linear_put_pair(fp16_t *y, float2 pair)
{
    *(uint32_t *)y = fp16_pair(pair.x, pair.y);
}

static __device__ __forceinline__ void linear_put_pair(float *y, float2 pair)
{
    *(float2 *)y = pair;
}

/* Store two outputs, the first at an even column. Rows of y are aligned to pairs only if n is even.
 */
template <typename T>
static __device__ __forceinline__ void linear_write_pair(const struct linear_operands &operands,
                                                         int64_t row, int column, float2 pair)
{
    if (row >= operands.m || column >= operands.n) return;
    T *y = (T *)operands.y + row * operands.n + column;
    if (operands.n % 2 == 0) {
        linear_put_pair(y, pair);
        return;
    }
    gpt_put(y, pair.x);
    if (column + 1 < operands.n) gpt_put(y + 1, pair.y);
}

static inline int linear_setup(struct assay_call *call)
{
    return linear_prepare(call, &call->state);
}

/* assay_variant.launch, where PRODUCT enqueues y = x w^T (+ bias) for the operands. */
template <int (*PRODUCT)(const struct linear_operands *operands, cudaStream_t stream)>
static int linear_launch(struct assay_call *call)
{
    struct linear_operands operands;
    if (linear_begin(call, call->state, &operands) < 0) return -1;
    if (PRODUCT(&operands, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

/* assay_variant.supports of a variant for one precision. */
template <enum gpt_precision PRECISION>
static const char *linear_only(const struct assay_shape *shape)
{
    return gpt_only(PRECISION, shape->value[LINEAR_PRECISION]);
}

/* NULL, or the reason why rows of x and w are not aligned to 16 bytes. */
static inline const char *linear_unaligned(const struct assay_shape *shape)
{
    int64_t k = shape->value[LINEAR_K];
    if (gpt_bytes(shape->value[LINEAR_PRECISION]) == 2)
        return k % 8 ? "k is no multiple of 8" : NULL;
    return k % 4 ? "k is no multiple of 4" : NULL;
}
