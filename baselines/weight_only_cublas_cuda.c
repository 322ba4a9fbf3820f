/*
 * weight_only_cublas_cuda.c - weight_only_linear by cublasGemmEx in BF16 with sums in fp32, on
 * weights that setup decoded: what a layer costs whose weights are not codes.
 *
 * Operations: 2 * rows * K * columns. Bytes: 2 per entry of X, W and C, where the operation reads
 * the codes of W. Decoded weights are doubled coordinates, exact in BF16; alpha has the rest.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "cublas_session.h"
#include "kernels/lut/weight_only.h"

struct layer {
    struct cublas_session session;
    void *w; /* [columns][stride] */
    int64_t stride;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_K] % 2) return "rows of X in BF16 need an even K";
    return cublas_missing();
}

static int setup(struct assay_call *call)
{
    const cublasMath_t math =
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct layer *layer = calloc(1, sizeof *layer);
    if (!layer) return assay_error("out of memory");
    call->state = layer;
    if (cublas_session_open(&layer->session, math, call)) return -1;
    layer->stride = lut_decoded_stride(&geometry);
    return lut_cublas_decode(call, call->shape, call->buffer[WEIGHT_ONLY_W], geometry.columns,
                             false, LUT_AS_BF16, &layer->w);
}

/* Row-major C = X W^T. */
static int launch(struct assay_call *call)
{
    const struct layer *layer = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    const float alpha = weight_only_scale(&geometry), beta = 0;
    int m = (int)geometry.columns, n = (int)geometry.rows, k = (int)geometry.k;
    return cublas_error(layer->session.api->gemm_ex(
                            layer->session.handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha,
                            layer->w, CUDA_R_16BF, (int)layer->stride, call->buffer[WEIGHT_ONLY_X],
                            CUDA_R_16BF, k, &beta, call->buffer[WEIGHT_ONLY_C], CUDA_R_16BF, m,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                        "cublasGemmEx");
}

static void teardown(struct assay_call *call)
{
    struct layer *layer = call->state;
    if (!layer) return;
    cudaFree(layer->w);
    cublas_session_release(&layer->session);
    free(layer);
}

static const struct assay_variant bf16 = {
    .operation = "weight_only_linear",
    .name = "cublas_bf16",
    .summary = "cuBLAS, BF16 with fp32 sums, on weights decoded in setup",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(bf16);

#endif
