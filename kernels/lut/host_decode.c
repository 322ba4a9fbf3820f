/*
 * host_decode.c - decode both operands to int8, then multiply, on all cores.
 *
 * Operations: 2 * rows * K * columns, and a codeword per block and level to decode.
 * Bytes: the codes, K bytes per row written and read again.
 */
#include <stdlib.h>

#include "lut.h"

/* Fewer blocks or elements than this are not worth waking other cores. */
enum { SMALL = 1024 };

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "a scale per block does not factor out of the sum";
    return lut_decode_unsupported(shape);
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t bytes = (geometry.rows + geometry.columns) * geometry.blocks * geometry.d;
    call->state = malloc((size_t)bytes);
    if (call->state == NULL) return assay_error("out of host memory for decoded operands");
    call->workspace_bytes += bytes;
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static void decode_all(const struct codebook *codebook, const struct lut_geometry *geometry,
                       const void *data, int64_t rows, bool right, int8_t *out)
{
    struct lut_codes codes = lut_codes(geometry, data, rows);
#pragma omp parallel for schedule(static) if (rows * geometry->blocks > SMALL)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t block = 0; block < geometry->blocks; block++) {
            int point[CODEBOOK_MAX_D];
            lut_decode_block(codebook, geometry, &codes, right, row, block, point);
            for (int i = 0; i < geometry->d; i++)
                out[(row * geometry->blocks + block) * geometry->d + i] = (int8_t)point[i];
        }
}

static int32_t dot(const int8_t *x, const int8_t *y, int64_t n)
{
    int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static int launch(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t width = geometry.blocks * geometry.d;
    int8_t *left = call->state, *right = left + geometry.rows * width;
    float *c = call->buffer[LUT_C];
    const struct codebook *codebook = lut_codebook(call->shape);
    if (codebook == NULL) return -1;
    decode_all(codebook, &geometry, call->buffer[LUT_A], geometry.rows, false, left);
    decode_all(codebook, &geometry, call->buffer[LUT_B], geometry.columns, true, right);
#pragma omp parallel for schedule(static) if (geometry.rows * geometry.columns > SMALL)
    for (int64_t at = 0; at < geometry.rows * geometry.columns; at++) {
        int32_t sum =
            dot(left + at / geometry.columns * width, right + at % geometry.columns * width, width);
        c[at] = (float)(sum / geometry.divisor) * geometry.unit;
    }
    return 0;
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "host_decode",
    .summary = "all cores: decode to int8, then dot products",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
