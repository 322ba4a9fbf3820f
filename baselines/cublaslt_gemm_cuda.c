/*
 * cublaslt_gemm_cuda.c - `gemm` by cublasLtMatmul (cublaslt_product.h): setup times the
 * library's algorithms and keeps the fastest.
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "cublas_gemm.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/cuda/cublaslt_product.h"

static union lt_factor factor(const struct assay_shape *shape, int value)
{
    union lt_factor factor;
    if (shape->value[GEMM_TYPE] == GEMM_INT8)
        factor.i32 = value;
    else
        factor.f32 = (float)value;
    return factor;
}

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
        .one = factor(shape, 1),
        .zero = factor(shape, 0),
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
    call->state = calloc(1, sizeof(struct lt_product));
    if (!call->state) return assay_error("out of memory");
    return lt_product_open(call->state, &request, call);
}

static int launch(struct assay_call *call)
{
    return lt_product_launch(call->state);
}

static void teardown(struct assay_call *call)
{
    if (call->state) lt_product_release(call->state);
    free(call->state);
}

static const struct assay_variant cublaslt = {
    .operation = "gemm",
    .name = "cublaslt",
    .summary = "cuBLASLt, the fastest of its algorithms as timed in setup",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = cublas_gemm_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublaslt);

#endif
