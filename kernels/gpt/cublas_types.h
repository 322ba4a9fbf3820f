/* cublas_types.h - a GPT layer's precision in cuBLAS's types. C only. */
#pragma once

#include "gpt.h"
#include "kernels/cuda/cublaslt_product.h"

#ifdef CUBLAS_HEADERS

/* How cuBLAS is asked for a precision. Environment variables can switch TF32 or emulation on, but
 * not for a pedantic type. bf16 and fp16 sum in fp32 throughout, partial sums of a split product
 * included.
 */
struct cublas_types {
    cudaDataType_t data;
    cublasComputeType_t compute;
    cublasMath_t math;
};

static inline struct cublas_types cublas_types(int64_t precision)
{
    const cublasMath_t full =
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    const struct cublas_types table[] = {
        [GPT_FP32] = {CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_PEDANTIC_MATH},
        [GPT_TF32] = {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_TF32_TENSOR_OP_MATH},
        [GPT_BF16] = {CUDA_R_16BF, CUBLAS_COMPUTE_32F, full},
        [GPT_FP16] = {CUDA_R_16F, CUBLAS_COMPUTE_32F, full},
    };
    return table[precision];
}

/* What all products by cublasLt in a precision have in common; the caller adds sizes and operands.
 */
static inline struct lt_request gpt_lt_request(int64_t precision)
{
    const struct cublas_types types = cublas_types(precision);
    return (struct lt_request){
        .in = types.data,
        .out = types.data,
        .scale = CUDA_R_32F,
        .compute = types.compute,
        .half = gpt_bytes(precision) == 2,
        .one = {.f32 = 1},
        .zero = {.f32 = 0},
    };
}

#endif
