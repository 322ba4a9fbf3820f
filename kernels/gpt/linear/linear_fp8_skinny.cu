/*
 * linear_fp8_skinny.cu - `linear_fp8` with few rows of x (linear_skinny.cuh): bound by the reading
 * of w.
 *
 * Operations: 2 m n k. Bytes from L2: w m / 64 times; x n / 32 times, partly from L1.
 */
#include <stdlib.h>

#include "linear_skinny.cuh"

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LFP8_K] % 16) return "k is no multiple of 16";
    return shape->value[LFP8_M] > LINEAR_SKINNY_MOST ? "more than 1024 rows" : NULL;
}

template <int COLUMNS, int MORE> static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    struct linear_skinny *product = (struct linear_skinny *)calloc(1, sizeof *product);
    struct linear_operands operands = {};
    call->state = product;
    if (!product) return assay_error("out of memory");
    operands.x = call->buffer[LFP8_X];
    operands.w = call->buffer[LFP8_W];
    operands.y = call->buffer[LFP8_Y];
    operands.m = value[LFP8_M];
    operands.n = value[LFP8_N];
    operands.k = value[LFP8_K];
    const int64_t rows = gpt_blocks(operands.m, gpt_blocks(operands.m, SKINNY_ROWS));
    const struct skinny_kernel kernel = value[LFP8_SCALE] == LFP8_BLOCK
                                            ? kernel_for<skinny_e4m3<true>, COLUMNS, true>(rows)
                                            : kernel_for<skinny_e4m3<false>, COLUMNS, true>(rows);
    int status = -1;
    for (int log_parts = skinny_usual_parts(&operands, 16 * COLUMNS) + MORE;
         status && log_parts >= 0; log_parts--)
        status = skinny_plan(product, kernel, 1 << log_parts, &operands);
    product->scales = {(const float *)call->buffer[LFP8_X_SCALES],
                       (const float *)call->buffer[LFP8_W_SCALES]};
    if (status == 0) linear_skinny_name(product, call->note, sizeof call->note);
    return status;
}

static int launch(struct assay_call *call)
{
    return linear_skinny_enqueue((const struct linear_skinny *)call->state,
                                 (cudaStream_t)call->stream);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

#define VARIANT(NAME, ...)                                                                         \
    static const struct assay_variant variant_##NAME = {                                           \
        .operation = "linear_fp8",                                                                 \
        .name = #NAME,                                                                             \
        .summary = "few rows on tensor cores by mma.sync as fp16, k divided by clusters",          \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .clock = ASSAY_CLOCK_DEVICE,                                                               \
        .min_sm = 80,                                                                              \
        .supports = supports,                                                                      \
        .setup = setup<__VA_ARGS__>,                                                               \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_##NAME)

VARIANT(skinny, 2, 0);
VARIANT(skinny_more, 2, 1);
VARIANT(skinny_16, 1, 0);
VARIANT(skinny_64, 4, 0);
VARIANT(skinny_64_more, 4, 1);
