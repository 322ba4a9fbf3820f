/*
 * host_table.c - lookups on the host: one thread, as the formula says
 * (host_scalar), and all cores (host_table).
 *
 * Operations: M^2 lookups and additions per pair of blocks. Bytes: those of the
 * operation, and the table from cache.
 */
#include <math.h>
#include <stdlib.h>

#include "lut.h"

/* Fewer elements than this are not worth waking other cores. */
enum { SMALL = 1024 };

static int setup(struct assay_call *call)
{
    const struct codebook *codebook = lut_codebook(call->shape);
    if (codebook == NULL) return -1;
    size_t bytes = (size_t)(codebook->count * codebook->count) * sizeof(int16_t);
    int16_t *table = malloc(bytes);
    if (table == NULL) return assay_error("out of host memory for the table");
    codebook_table_i16(codebook, table);
    call->state = table;
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static int32_t block_lookups(const struct lut_geometry *geometry, const int16_t *table,
                             const struct lut_codes *a, const struct lut_codes *b, int64_t row,
                             int64_t column, int64_t block)
{
    int32_t sum = 0;
    for (int m = 0; m < geometry->levels; m++) {
        int64_t left = lut_read(a, row, block * geometry->levels + m);
        for (int n = 0; n < geometry->levels; n++) {
            int64_t right = lut_read(b, column, block * geometry->levels + n);
            sum += lut_weight(geometry->q, m + n) * table[left * geometry->count + right];
        }
    }
    return sum;
}

static float element(const struct lut_geometry *geometry, const struct assay_call *call,
                     int64_t row, int64_t column)
{
    struct lut_codes a = lut_codes(geometry, call->buffer[LUT_A], geometry->rows);
    struct lut_codes b = lut_codes(geometry, call->buffer[LUT_B], geometry->columns);
    int32_t exact = 0;
    float scaled = 0;
    for (int64_t block = 0; block < geometry->blocks; block++) {
        int32_t sum = block_lookups(geometry, call->state, &a, &b, row, column, block);
        exact += sum;
        if (geometry->scaled) {
            const float *scale_a = call->buffer[LUT_SCALE_A], *scale_b = call->buffer[LUT_SCALE_B];
            scaled = fmaf(scale_a[row * geometry->blocks + block] *
                              scale_b[column * geometry->blocks + block],
                          (float)sum, scaled);
        }
    }
    return (geometry->scaled ? scaled : (float)exact) * geometry->unit;
}

static int launch_scalar(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    float *c = call->buffer[LUT_C];
    for (int64_t at = 0; at < geometry.rows * geometry.columns; at++)
        c[at] = element(&geometry, call, at / geometry.columns, at % geometry.columns);
    return 0;
}

static int launch_cores(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    float *c = call->buffer[LUT_C];
#pragma omp parallel for schedule(static) if (geometry.rows * geometry.columns > SMALL)
    for (int64_t at = 0; at < geometry.rows * geometry.columns; at++)
        c[at] = element(&geometry, call, at / geometry.columns, at % geometry.columns);
    return 0;
}

static const struct assay_variant scalar = {
    .operation = "lut_matmul",
    .name = "host_scalar",
    .summary = "one thread, a lookup at a time",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .supports = lut_table_unsupported,
    .setup = setup,
    .launch = launch_scalar,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant cores = {
    .operation = "lut_matmul",
    .name = "host_table",
    .summary = "all cores, a lookup at a time",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = lut_table_unsupported,
    .setup = setup,
    .launch = launch_cores,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(cores);
