/*
 * linear_quality.c - how far C of quantized_linear is from the product of the same weights with
 * activations that were not quantised.
 *
 * It compares up to 16 rows and 256 columns, spread over C. Lost blocks count as zeros on both
 * sides, because their error is not the quantiser's.
 */
#include <math.h>
#include <stdlib.h>

#include "linear.h"

enum { ROWS = 16, COLUMNS = 256 };

struct look {
    struct lut_geometry geometry;
    const struct codebook *codebook;
    double *w; /* [columns looked at][blocks * 8] */
    double *x; /* one row, lost blocks as zeros */
    int64_t blocks, overloaded;
    double error, signal;
};

/* The i-th of `count` indices that are spread over 0 to all - 1. */
static int64_t spread(int64_t i, int64_t count, int64_t all)
{
    return count > 1 ? (all - 1) * i / (count - 1) : 0;
}

static void decode_columns(const struct look *look, const void *data, int64_t count)
{
    const struct lut_geometry *geometry = &look->geometry;
    struct lut_codes codes = lut_codes(geometry, data, geometry->columns);
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < count * geometry->blocks; at++) {
        int y[CODEBOOK_MAX_D];
        lut_decode_block(look->codebook, geometry, &codes, true,
                         spread(at / geometry->blocks, count, geometry->columns),
                         at % geometry->blocks, y);
        for (int i = 0; i < 8; i++)
            look->w[8 * at + i] = 0.5 * y[i];
    }
}

static void take_row(struct look *look, const float *row)
{
    const struct lut_geometry *geometry = &look->geometry;
    float r = lut_inverse_beta(geometry->q, geometry->levels);
    for (int64_t block = 0; block < geometry->blocks; block++) {
        struct linear_block coded = linear_nearest(geometry, look->codebook, r, row, block);
        look->blocks++;
        look->overloaded += coded.overloaded;
        for (int64_t i = 8 * block; i < 8 * block + 8; i++)
            look->x[i] = coded.lost || i >= geometry->k ? 0 : (double)row[i];
    }
}

static void compare_row(struct look *look, const float *c, int64_t columns)
{
    int64_t width = 8 * look->geometry.blocks;
    double error = 0, signal = 0;
#pragma omp parallel for schedule(static) reduction(+ : error, signal)
    for (int64_t at = 0; at < columns; at++) {
        double sum = 0, got = (double)c[spread(at, columns, look->geometry.columns)];
        for (int64_t i = 0; i < width; i++)
            sum += look->x[i] * look->w[at * width + i];
        error += (got - sum) * (got - sum);
        signal += sum * sum;
    }
    look->error += error;
    look->signal += signal;
}

static int figures(const struct look *look, double elements, struct assay_metric *out)
{
    int count = 0;
    out[count++] = (struct assay_metric){"mse", look->error / elements};
    if (look->error > 0 && look->signal > 0)
        out[count++] = (struct assay_metric){"sqnr_db", 10.0 * log10(look->signal / look->error)};
    out[count++] =
        (struct assay_metric){"overload_rate", (double)look->overloaded / (double)look->blocks};
    return count;
}

int linear_quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    struct look look = {.geometry = lut_geometry(shape), .codebook = lut_codebook(shape)};
    const struct lut_geometry *geometry = &look.geometry;
    int64_t rows = geometry->rows < ROWS ? geometry->rows : ROWS;
    int64_t columns = geometry->columns < COLUMNS ? geometry->columns : COLUMNS;
    size_t width = (size_t)(8 * geometry->blocks);
    int count = 0;
    look.w = malloc((size_t)columns * width * sizeof *look.w);
    look.x = malloc(width * sizeof *look.x);
    if (look.codebook && look.w && look.x) {
        decode_columns(&look, host[LINEAR_W], columns);
        for (int64_t i = 0; i < rows; i++) {
            int64_t row = spread(i, rows, geometry->rows);
            take_row(&look, (const float *)host[LINEAR_X] + row * geometry->k);
            compare_row(&look, (const float *)host[LINEAR_C] + row * geometry->columns, columns);
        }
        count = figures(&look, (double)rows * (double)columns, out);
    }
    free(look.x);
    free(look.w);
    return count;
}
