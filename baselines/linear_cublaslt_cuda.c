/*
 * linear_cublaslt_cuda.c - `linear` by cublasLtMatmul (cublaslt_product.h), with a fused bias as
 * its epilogue.
 *
 * Operations: 2 m n k. Bytes: those of the operation, and of a separate bias or the copy.
 */
#include "kernels/gpt/cublas_types.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/gpt/linear/linear_steps.h"

struct linear {
    struct lt_product product;
    void *copy; /* a transposed copy of the weight */
};

static int setup(struct assay_call *call)
{
    struct linear *linear = call->state = calloc(1, sizeof *linear);
    struct linear_operands o;
    if (!linear) return assay_error("out of memory");
    int status = linear_prepare(call, &linear->copy);
    if (status == 0) status = linear_begin(call, linear->copy, &o);
    if (status) return status;
    struct lt_request request = gpt_lt_request(call->shape->value[LINEAR_PRECISION]);
    request.m = o.m;
    request.n = o.n;
    request.k = o.k;
    request.transposed = o.transposed;
    request.leading = o.leading;
    request.epilogue = o.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    request.bias = o.bias;
    request.x = o.x;
    request.w = o.w;
    request.y = o.y;
    request.stream = call->stream;
    return lt_product_open(&linear->product, &request, call);
}

static int launch(struct assay_call *call)
{
    const struct linear *linear = call->state;
    struct linear_operands o;
    if (linear_begin(call, linear->copy, &o)) return -1;
    if (lt_product_launch(&linear->product)) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct linear *linear = call->state;
    if (!linear) return;
    lt_product_release(&linear->product);
    cudaFree(linear->copy);
    free(linear);
}

static const struct assay_variant cublaslt = {
    .operation = "linear",
    .name = "cublaslt",
    .summary = "cuBLASLt, its fastest algorithm as timed in setup, bias as epilogue",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = cublas_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublaslt);

#endif
