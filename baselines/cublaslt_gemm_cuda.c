/*
 * cublaslt_gemm_cuda.c - `gemm` by cublasLtMatmul (cublaslt_product.h): setup times the
 * library's algorithms and keeps the fastest.
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "cublas_gemm.h"

#ifdef CUBLAS_HEADERS

static int setup(struct assay_call *call)
{
    const struct assay_shape *shape = call->shape;
    const struct cublas_gemm_types types = cublas_gemm_types(shape);
    const struct lt_request request = {
        .in = types.in,
        .out = types.out,
        .scale = types.scale,
        .compute = types.compute,
        .half = gemm_elements(shape).rounding > 0,
        .one = cublas_gemm_scale(shape, 1),
        .zero = cublas_gemm_scale(shape, 0),
        .m = shape->value[GEMM_M],
        .n = shape->value[GEMM_N],
        .k = shape->value[GEMM_K],
        .leading = shape->value[GEMM_K],
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .x = call->buffer[GEMM_A],
        .w = call->buffer[GEMM_B],
        .y = call->buffer[GEMM_C],
        .stream = call->stream,
    };
    return lt_variant_setup(call, &request);
}

static const struct assay_variant cublaslt = {
    .operation = "gemm",
    .name = "cublaslt",
    .summary = "cuBLASLt, the fastest of its algorithms as timed in setup",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = cublas_gemm_supports,
    .setup = setup,
    .launch = lt_variant_launch,
    .teardown = lt_variant_teardown,
};
ASSAY_REGISTER_VARIANT(cublaslt);

#endif
