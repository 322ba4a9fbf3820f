/*
 * lut_cublaslt_cuda.c - lut_matmul by cublasLtMatmul (cublaslt_product.h) in int8 with int32 sums,
 * on operands that setup decoded.
 *
 * The library cannot write these sums as fp32, so there are two variants. cublaslt_int8_product is
 * the library's call alone; its int32 sums are not the operation's C and have their own check. In
 * cublaslt_int8 a kernel of ours converts them to C, in place. Compare a kernel that claims to be
 * as fast as the library with the first.
 *
 * Operations: 2 * rows * K * columns in int8. Bytes: 1 per entry of A and B; 4 per element of C,
 * and in cublaslt_int8 8 more.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/cuda/cublaslt_product.h"

struct lt {
    struct lut_operands operands;
    struct lt_product product;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_COLUMNS] % 4 != 0) return "int8 needs columns to be a multiple of 4";
    return lut_cublas_supports_int8(shape);
}

static int setup(struct assay_call *call)
{
    const struct assay_shape *shape = call->shape;
    struct lt *lt = calloc(1, sizeof *lt);
    if (!lt) return assay_error("out of memory");
    call->state = lt;
    if (lut_operands_init(&lt->operands, call, LUT_AS_INT8)) return -1;
    /* Rows are padded by zeros. */
    const struct lt_request request =
        lt_request_int8(shape->value[LUT_ROWS], shape->value[LUT_COLUMNS], lt->operands.stride,
                        lt->operands.a, lt->operands.b, call->buffer[LUT_C], call->stream);
    return lt_product_open(&lt->product, &request, call);
}

static void teardown(struct assay_call *call)
{
    struct lt *lt = call->state;
    if (!lt) return;
    lt_product_release(&lt->product);
    lut_operands_release(&lt->operands);
    free(lt);
}

static int launch_product(struct assay_call *call)
{
    const struct lt *lt = call->state;
    return lt_product_launch(&lt->product);
}

static int launch_with_c(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (launch_product(call)) return -1;
    return lut_sums_to_c(&geometry, call->buffer[LUT_C], call->stream);
}

static const struct assay_variant int8_product = {
    .operation = "lut_matmul",
    .name = "cublaslt_int8_product",
    .summary = "cuBLASLt alone, int8 on decoded operands: int32 sums, not yet C",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = supports,
    .setup = setup,
    .launch = launch_product,
    .teardown = teardown,
    .check = lut_check_products,
    .model = lut_model_products,
};
ASSAY_REGISTER_VARIANT(int8_product);

static const struct assay_variant int8 = {
    .operation = "lut_matmul",
    .name = "cublaslt_int8",
    .summary = "cuBLASLt, int8 on decoded operands, then a kernel of ours: sums to fp32",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch_with_c,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(int8);

#endif
