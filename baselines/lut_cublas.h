/*
 * lut_cublas.h - the operands of lut_matmul for cuBLAS: decoded in setup to the library's type, in
 * rows of K entries padded with zeros to a multiple of 128.
 *
 * cuBLAS is column-major: row-major C = A B^T is op(B') A' there, as in cublas_gemm.h.
 */
#pragma once

#include "kernels/cuda/cublas_load.h"

#ifdef CUBLAS_HEADERS

#include "kernels/cuda/cuda_error.h"
#include "kernels/lut/lut_cuda.h"

enum lut_cublas_type { LUT_AS_INT8, LUT_AS_FP32, LUT_AS_BF16, LUT_AS_ORIGINAL };

/* Decode `rows` rows of codes of a shape of lut_matmul to *out [rows][lut_decoded_stride] in the
 * type, memory of its own for cudaFree, and wait for it; right: with the metric. Adds to
 * call->workspace_bytes. */
int lut_cublas_decode(struct assay_call *call, const struct assay_shape *shape, const void *codes,
                      int64_t rows, bool right, enum lut_cublas_type type, void **out);

struct lut_operands {
    void *a, *b;    /* device memory */
    int64_t stride; /* entries of a row */
};

/* Decode both operands; what it leaves after a failure may be released too. */
int lut_operands_init(struct lut_operands *operands, struct assay_call *call,
                      enum lut_cublas_type type);
void lut_operands_release(struct lut_operands *operands);

/* NULL, or the reason why this shape has no decoded operands in fp32, int8 or bf16. */
const char *lut_cublas_supports(const struct assay_shape *shape);
const char *lut_cublas_supports_int8(const struct assay_shape *shape);
const char *lut_cublas_supports_bf16(const struct assay_shape *shape);

#endif
