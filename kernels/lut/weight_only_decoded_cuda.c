/*
 * weight_only_decoded_cuda.c - weight_only_linear for many rows of X: each launch decodes W to bf16
 * in device memory, and cuBLASLt multiplies.
 *
 * Why it is fast: kernels that decode while they multiply decode W once for each 32 to 128 rows of
 * X, this one once. It is slow for few rows, which such kernels do in the time that codes take from
 * memory. Decoded weights are doubled coordinates, exact in bf16; alpha has the rest.
 *
 * Operations: 2 * rows * K * columns in bf16. Bytes: the codes of W once, 2 per weight written and
 * read again, mostly from L2; X and C.
 */
#include <stdlib.h>

#include "kernels/cuda/cublaslt_product.h"
#include "kernels/cuda/device_memory.h"
#include "lut_cuda.h"
#include "weight_only.h"

#ifdef CUBLAS_HEADERS

struct state {
    struct lut_points points; /* first, as in lut_points_setup */
    struct lt_product product;
    void *decoded; /* [columns][stride] */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_K] % 2) return "rows of X in BF16 need an even K";
    return cublas_missing();
}

static int decode(const struct assay_call *call)
{
    const struct state *state = call->state;
    const struct lut_geometry geometry = lut_geometry(call->shape);
    return lut_decode_bf16(&geometry, call->buffer[WEIGHT_ONLY_W], geometry.columns, &state->points,
                           state->decoded, call->stream);
}

static int setup(struct assay_call *call)
{
    const struct lut_geometry geometry = lut_geometry(call->shape);
    const int64_t stride = lut_decoded_stride(&geometry);
    struct state *state = calloc(1, sizeof *state);
    if (!state) return assay_error("out of memory");
    call->state = state;
    if (lut_points_upload(call->shape, &state->points)) return -1;
    call->workspace_bytes += state->points.bytes;
    int status = device_memory(call, &state->decoded, 2 * geometry.columns * stride, "decoded W");
    if (status) return status;
    if (decode(call)) return -1;
    const struct lt_request request = {
        .in = CUDA_R_16BF,
        .out = CUDA_R_16BF,
        .scale = CUDA_R_32F,
        .compute = CUBLAS_COMPUTE_32F,
        .half = true,
        .one = {.f32 = weight_only_scale(&geometry)},
        .zero = {.f32 = 0},
        .m = geometry.rows,
        .n = geometry.columns,
        .k = geometry.k,
        .leading = stride,
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .x = call->buffer[WEIGHT_ONLY_X],
        .w = state->decoded,
        .y = call->buffer[WEIGHT_ONLY_C],
        .stream = call->stream,
    };
    return lt_product_open(&state->product, &request, call);
}

static int launch(struct assay_call *call)
{
    const struct state *state = call->state;
    struct lt_request ask = state->product.request;
    ask.x = call->buffer[WEIGHT_ONLY_X];
    ask.y = call->buffer[WEIGHT_ONLY_C];
    ask.stream = call->stream;
    return decode(call) ? -1 : lt_product_launch_at(&state->product, &ask);
}

static void teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    lt_product_release(&state->product);
    cudaFree(state->decoded);
    lut_points_release(&state->points);
    free(state);
}

static const struct assay_variant decoded = {
    .operation = "weight_only_linear",
    .name = "decode_cublaslt",
    .summary = "W decoded to bf16 in each launch, then cuBLASLt",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(decoded);

#endif
