/*
 * linear_host.c - quantized_linear on the host: encode each activation row once,
 * decode the weights as they come.
 *
 * Operations: 2 * rows * K * columns, and a codeword per block and level of W for every row.
 * Bytes: those of the operation; the encoded rows stay in cache.
 */
#include <omp.h>
#include <stdlib.h>

#include "linear.h"

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t bytes = geometry.rows * geometry.blocks * (int64_t)sizeof(int[8]);
    if (lut_codebook(call->shape) == NULL) return -1;
    call->state = malloc((size_t)bytes);
    if (call->state == NULL) return assay_error("out of host memory for encoded rows");
    call->workspace_bytes += bytes;
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

/* Encode a row and decode it again, doubled coordinates. */
static void quantize_row(const struct lut_geometry *geometry, const struct codebook *codebook,
                         float r, const float *x, int (*out)[8])
{
    for (int64_t block = 0; block < geometry->blocks; block++) {
        float entries[8];
        int point[8], weight = 1;
        for (int i = 0; i < 8; i++) {
            entries[i] = block * 8 + i < geometry->k ? x[block * 8 + i] : 0.0f;
            out[block][i] = 0;
        }
        linear_scale(entries, r);
        lut_closest_e8(entries, point);
        for (int m = 0; m < geometry->levels; m++, weight *= geometry->q) {
            if (m > 0) lut_next_e8(point, geometry->q);
            const int64_t index = lut_index_e8(point, geometry->q);
            for (int i = 0; i < 8; i++)
                out[block][i] += weight * codebook->left[8 * index + i];
        }
    }
}

static float element(const struct lut_geometry *geometry, const struct codebook *codebook,
                     const struct lut_codes *w, const int (*x)[8], int64_t column)
{
    int64_t sum = 0;
    for (int64_t block = 0; block < geometry->blocks; block++) {
        int y[CODEBOOK_MAX_D];
        lut_decode_block(codebook, geometry, w, true, column, block, y);
        for (int i = 0; i < 8; i++)
            sum += x[block][i] * y[i];
    }
    return (float)(sum / geometry->divisor) * geometry->unit;
}

void linear_host_layer(const struct lut_geometry *geometry, const struct codebook *codebook,
                       float r, const float *x, const void *w, int (*coded)[8], float *c,
                       int threads)
{
    struct lut_codes codes = lut_codes(geometry, w, geometry->columns);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t row = 0; row < geometry->rows; row++)
        quantize_row(geometry, codebook, r, x + row * geometry->k, coded + row * geometry->blocks);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t at = 0; at < geometry->rows * geometry->columns; at++)
        c[at] = element(geometry, codebook, &codes,
                        (const int(*)[8])coded + at / geometry->columns * geometry->blocks,
                        at % geometry->columns);
}

static int run(struct assay_call *call, int threads)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    linear_host_layer(&geometry, lut_codebook(call->shape),
                      lut_inverse_beta(geometry.q, geometry.levels), call->buffer[LINEAR_X],
                      call->buffer[LINEAR_W], call->state, call->buffer[LINEAR_C], threads);
    return 0;
}

static int launch_scalar(struct assay_call *call)
{
    return run(call, 1);
}

static int launch_cores(struct assay_call *call)
{
    return run(call, omp_get_max_threads());
}

static const struct assay_variant scalar = {
    .operation = "quantized_linear",
    .name = "host_scalar",
    .summary = "one thread",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch_scalar,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant cores = {
    .operation = "quantized_linear",
    .name = "host_omp",
    .summary = "all cores: a row encoded once, weights decoded as they come",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch_cores,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cores);
