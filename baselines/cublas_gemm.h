/*
 * cublas_gemm.h - how cublasGemmEx and cublasLtMatmul are asked for the operation `gemm`.
 *
 * cuBLAS is column-major. Row-major C = A B^T becomes C' = op(B') A', with C' [n, m], B' [k, n]
 * transposed and A' [k, m] not: the operands change places and the layout is TN, the only one that
 * int8 has.
 */
#pragma once

#include "kernels/cuda/cublaslt_product.h"

#ifdef CUBLAS_HEADERS

#include "kernels/ceilings/gemm.h"

struct cublas_gemm_types {
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
    cublasMath_t math;
};

/* Environment variables can switch TF32 or emulation on, but not for a pedantic type. Half types
 * sum in fp32 throughout, partial sums of a split product included. */
static inline struct cublas_gemm_types cublas_gemm_types(const struct assay_shape *shape)
{
    const cublasMath_t full =
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    const struct cublas_gemm_types table[GEMM_TYPES] = {
        [GEMM_FP32] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                       CUBLAS_PEDANTIC_MATH},
        [GEMM_TF32] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
                       CUBLAS_TF32_TENSOR_OP_MATH},
        [GEMM_BF16] = {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, full},
        [GEMM_FP16] = {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, full},
        [GEMM_INT8] = {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUBLAS_DEFAULT_MATH},
    };
    return table[shape->value[GEMM_TYPE]];
}

/* A scale factor in the type that the sum is scaled in. */
static inline union lt_factor cublas_gemm_scale(const struct assay_shape *shape, int value)
{
    union lt_factor scale;
    if (shape->value[GEMM_TYPE] == GEMM_INT8)
        scale.i32 = value;
    else
        scale.f32 = (float)value;
    return scale;
}

/* NULL, or the reason why neither interface takes this shape. */
static inline const char *cublas_gemm_supports(const struct assay_shape *shape)
{
    bool aligned = shape->value[GEMM_N] % 4 == 0 && shape->value[GEMM_K] % 4 == 0;
    if (shape->value[GEMM_TYPE] == GEMM_INT8 && !aligned)
        return "int8 needs n and k to be multiples of 4";
    return cublas_missing();
}

#endif
