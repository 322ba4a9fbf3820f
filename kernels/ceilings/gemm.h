/*
 * gemm.h - the dims and element types of the operation `gemm`.
 */
#pragma once

#include "assay.h"
#include "kernels/product.h"

enum gemm_dim { GEMM_M, GEMM_N, GEMM_K, GEMM_TYPE };
enum gemm_type { GEMM_FP32, GEMM_TF32, GEMM_BF16, GEMM_FP16, GEMM_INT8, GEMM_TYPES };
enum gemm_buffer { GEMM_A, GEMM_B, GEMM_C };

/* The element types of a shape, and the kind of arithmetic that its operations count as. */
struct gemm_elements {
    enum assay_type in, out;
    enum assay_arithmetic arithmetic;
    double rounding; /* of the output: its standard deviation, relative */
};

static inline struct gemm_elements gemm_elements(const struct assay_shape *shape)
{
    static const struct gemm_elements table[GEMM_TYPES] = {
        [GEMM_FP32] = {ASSAY_F32, ASSAY_F32, ASSAY_FP32, 0},
        [GEMM_TF32] = {ASSAY_F32, ASSAY_F32, ASSAY_TF32, 0},
        [GEMM_BF16] = {ASSAY_BF16, ASSAY_BF16, ASSAY_BF16_OPS, PRODUCT_BF16_SIGMA},
        [GEMM_FP16] = {ASSAY_F16, ASSAY_F16, ASSAY_FP16_OPS, PRODUCT_FP16_SIGMA},
        [GEMM_INT8] = {ASSAY_I8, ASSAY_I32, ASSAY_INT8_OPS, 0},
    };
    return table[shape->value[GEMM_TYPE]];
}
