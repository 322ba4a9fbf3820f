/*
 * weight_only_host.c - weight_only_linear on the host: in its simplest form on one core, and on all
 * cores with each row of W decoded once.
 *
 * Operations: 2 * rows * K * columns; host_scalar decodes W for every row of X again. Bytes: those
 * of the operation, and for host_omp the decoded row, which stays in cache.
 */
#include <stdlib.h>
#include <string.h>

#include "weight_only.h"

/* A bf16 is the upper half of an fp32. */
static float widen(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int setup(struct assay_call *call)
{
    return lut_codebook(call->shape) ? 0 : -1;
}

static int launch_scalar(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    const struct codebook *codebook = lut_codebook(call->shape);
    struct lut_codes w = lut_codes(&geometry, call->buffer[WEIGHT_ONLY_W], geometry.columns);
    const uint16_t *x = call->buffer[WEIGHT_ONLY_X];
    for (int64_t row = 0; row < geometry.rows; row++)
        for (int64_t column = 0; column < geometry.columns; column++) {
            float sum = 0;
            for (int64_t k = 0; k < geometry.k; k++) {
                int point[CODEBOOK_MAX_D];
                lut_decode_block(codebook, &geometry, &w, false, column, k / 8, point);
                sum += widen(x[row * geometry.k + k]) * (float)point[k % 8];
            }
            assay_store(ASSAY_BF16, call->buffer[WEIGHT_ONLY_C], row * geometry.columns + column,
                        (double)(weight_only_scale(&geometry) * sum));
        }
    return 0;
}

/* Doubled coordinates of a row of W; `out` has space for whole blocks. */
static void decode_row(const struct lut_geometry *geometry, const struct codebook *codebook,
                       const struct lut_codes *w, int64_t column, float *out)
{
    for (int64_t block = 0; block < geometry->blocks; block++) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(codebook, geometry, w, false, column, block, point);
        for (int i = 0; i < 8; i++)
            out[8 * block + i] = (float)point[i];
    }
}

static float dot(const uint16_t *x, const float *w, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += widen(x[i]) * w[i];
    return sum;
}

static int launch_cores(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    const struct codebook *codebook = lut_codebook(call->shape);
    struct lut_codes w = lut_codes(&geometry, call->buffer[WEIGHT_ONLY_W], geometry.columns);
    const uint16_t *x = call->buffer[WEIGHT_ONLY_X];
    float scale = weight_only_scale(&geometry);
    bool failed = false;
#pragma omp parallel
    {
        float *weights = malloc((size_t)geometry.blocks * 8 * sizeof *weights);
        if (weights == NULL) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (int64_t column = 0; column < geometry.columns; column++) {
            if (weights == NULL) continue;
            decode_row(&geometry, codebook, &w, column, weights);
            for (int64_t row = 0; row < geometry.rows; row++)
                assay_store(ASSAY_BF16, call->buffer[WEIGHT_ONLY_C],
                            row * geometry.columns + column,
                            (double)(scale * dot(x + row * geometry.k, weights, geometry.k)));
        }
        free(weights);
    }
    return failed ? assay_error("out of host memory for a row of weights") : 0;
}

static const struct assay_variant scalar = {
    .operation = "weight_only_linear",
    .name = "host_scalar",
    .summary = "one thread, one element after the other",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant cores = {
    .operation = "weight_only_linear",
    .name = "host_omp",
    .summary = "all cores: a row of weights decoded once for all rows of activations",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch_cores,
};
ASSAY_REGISTER_VARIANT(cores);
