/*
 * linear.cuh - what the own linear kernels share: setup, launch and teardown about
 * a product, and reading a weight of either layout.
 */
#ifndef LINEAR_CUH
#define LINEAR_CUH

#include "gpt.cuh"
#include "linear_steps.h"

/* w[n][k], wherever it lies. */
template <typename T>
static __device__ __forceinline__ float linear_weight(const struct linear_operands &operands, int n,
                                                      int k)
{
    int64_t at =
        operands.transposed ? (int64_t)k * operands.leading + n : (int64_t)n * operands.leading + k;
    return gpt_float(__ldg((const T *)operands.w + at));
}

/* Finish one output: the bias if it is the product's to add, then round and store. */
template <typename T>
static __device__ __forceinline__ void linear_put(const struct linear_operands &operands,
                                                  int64_t row, int column, float sum)
{
    if (row >= operands.m || column >= operands.n) return;
    if (operands.bias) sum += gpt_float(__ldg((const T *)operands.bias + column));
    gpt_put((T *)operands.y + row * operands.n + column, sum);
}

static inline int linear_setup(struct assay_call *call)
{
    return linear_prepare(call, &call->state);
}

static inline void linear_teardown(struct assay_call *call)
{
    cudaFree(call->state);
}

/* `product` enqueues y = x w^T (+ bias) of the operands. */
static inline int linear_launch(const struct assay_call *call,
                                int (*product)(const struct linear_operands *operands,
                                               cudaStream_t stream))
{
    struct linear_operands operands;
    if (linear_begin(call, call->state, &operands) < 0) return -1;
    if (product(&operands, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static inline const char *linear_only(const struct assay_shape *shape, enum gpt_precision precision,
                                      const char *reason)
{
    return shape->value[LINEAR_PRECISION] == precision ? NULL : reason;
}

#endif
