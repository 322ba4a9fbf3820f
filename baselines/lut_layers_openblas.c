/*
 * lut_layers_openblas.c - lut_matmul_onesided and quantized_linear on the host by cblas_sgemm: the
 * operations with one operand in full precision. Setup decodes the other one to fp32.
 *
 * quantized_linear multiplies X without quantising it. The result differs from the operation's, so
 * it has its own check.
 *
 * Operations: 2 * rows * K * columns. Bytes: 4 per entry of either operand, 4 per element of C.
 */
#include <stdlib.h>

#include "kernels/lut/onesided.h"
#include "load_openblas.h"
#include "lut_layer.h"

/* Decode `rows` rows of K codes to fp32, into call->state. */
static int decode(struct assay_call *call, int buffer, int64_t rows)
{
    int status = openblas_load();
    if (status) return status;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct lut_codes codes = lut_codes(&geometry, call->buffer[buffer], rows);
    const struct codebook *codebook = lut_codebook(call->shape);
    int lattice = (int)call->shape->value[LUT_LATTICE];
    int64_t bytes = rows * geometry.k * (int64_t)sizeof(float);
    float *out = call->state = malloc((size_t)bytes);
    if (codebook == NULL) return -1;
    if (out == NULL) return assay_error("out of host memory for the decoded operand");
    call->workspace_bytes += bytes;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < rows * geometry.blocks; at++) {
        int64_t row = at / geometry.blocks, first = at % geometry.blocks * geometry.d;
        int point[CODEBOOK_MAX_D];
        lut_decode_block(codebook, &geometry, &codes, false, row, at % geometry.blocks, point);
        for (int i = 0; i < geometry.d && first + i < geometry.k; i++)
            out[row * geometry.k + first + i] = (float)point[i] * onesided_step(lattice, i);
    }
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static int multiply(struct assay_call *call, const float *a, const float *b)
{
    const int64_t *value = call->shape->value;
    int k = (int)value[LUT_K], columns = (int)value[LUT_COLUMNS];
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)value[LUT_ROWS], columns, k,
                          1.0f, a, k, b, k, 0.0f, call->buffer[LUT_C], columns);
    return 0;
}

/* -------------------------------------------------------------- one-sided -- */

static int setup_onesided(struct assay_call *call)
{
    return decode(call, LUT_A, call->shape->value[LUT_ROWS]);
}

static int launch_onesided(struct assay_call *call)
{
    return multiply(call, call->state, call->buffer[LUT_B]);
}

static const struct assay_variant onesided = {
    .operation = "lut_matmul_onesided",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm on the decoded A",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .setup = setup_onesided,
    .launch = launch_onesided,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(onesided);

/* ------------------------------------------------------------------ layer -- */

static int setup_linear(struct assay_call *call)
{
    return decode(call, LUT_B, call->shape->value[LUT_COLUMNS]);
}

static int launch_linear(struct assay_call *call)
{
    return multiply(call, call->buffer[LUT_A], call->state);
}

static int check_linear(struct assay_call *call)
{
    static const struct layer_error error = {.term = 0x1p-24};
    const struct assay_shape *shape = call->shape;
    struct lut_geometry geometry = lut_geometry(shape);
    float *weights = malloc((size_t)geometry.k * sizeof *weights);
    int status = weights ? 0 : assay_error("out of host memory for a check");
    for (int i = 0; i < LAYER_CHECKED && status == 0; i++) {
        int64_t row, column;
        layer_place(shape, i, &row, &column);
        const char *codes = (const char *)call->buffer[LUT_B] + column * geometry.stride_bytes;
        status = layer_weights(shape, codes, weights);
        if (status == 0)
            status = layer_check_element(
                shape, (const float *)call->buffer[LUT_A] + row * geometry.k, weights, &error,
                ((const float *)call->buffer[LUT_C])[row * geometry.columns + column]);
    }
    free(weights);
    return status;
}

static const struct assay_variant linear = {
    .operation = "quantized_linear",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm on activations that are not quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .apart = true,
    .setup = setup_linear,
    .launch = launch_linear,
    .teardown = teardown,
    .check = check_linear,
};
ASSAY_REGISTER_VARIANT(linear);
