/*
 * lut_openblas.c - lut_matmul by OpenBLAS on operands that setup decoded to fp32: the time of the
 * product alone, with no decoding at run time.
 *
 * Operations: 2 * rows * K * columns. Bytes: 4 per entry of A and B, 4 per element of C.
 */
#include <stdlib.h>

#include "kernels/lut/lut.h"
#include "load_openblas.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LUT_SCALED] ? "scaled operands are not prepared" : NULL;
}

static int decode(const struct assay_shape *shape, const void *data, int64_t rows, bool right,
                  float *out)
{
    struct lut_geometry geometry = lut_geometry(shape);
    struct lut_codes codes = lut_codes(&geometry, data, rows);
    const struct codebook *codebook = lut_codebook(shape);
    if (codebook == NULL) return -1;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < rows * geometry.blocks; at++) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(codebook, &geometry, &codes, right, at / geometry.blocks,
                         at % geometry.blocks, point);
        for (int i = 0; i < geometry.d; i++)
            out[at * geometry.d + i] = (float)point[i];
    }
    return 0;
}

static int setup(struct assay_call *call)
{
    int status = openblas_load();
    if (status) return status;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t width = geometry.blocks * geometry.d;
    int64_t bytes = (geometry.rows + geometry.columns) * width * (int64_t)sizeof(float);
    float *left = call->state = malloc((size_t)bytes);
    if (left == NULL) return assay_error("out of host memory for decoded operands");
    call->workspace_bytes += bytes;
    if (decode(call->shape, call->buffer[LUT_A], geometry.rows, false, left)) return -1;
    return decode(call->shape, call->buffer[LUT_B], geometry.columns, true,
                  left + geometry.rows * width);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static int launch(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int width = (int)(geometry.blocks * geometry.d);
    const float *left = call->state, *right = left + geometry.rows * width;
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)geometry.rows,
                          (int)geometry.columns, width, geometry.unit / (float)geometry.divisor,
                          left, width, right, width, 0.0f, call->buffer[LUT_C],
                          (int)geometry.columns);
    return 0;
}

static const struct assay_variant openblas = {
    .operation = "lut_matmul",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm on decoded operands",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(openblas);
