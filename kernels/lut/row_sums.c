#include "row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onesided.h"

int column_sums_init(struct column_sums *sums, const struct assay_shape *shape)
{
    size_t k = (size_t)shape->value[LUT_K];
    sums->sum = calloc(k, sizeof *sums->sum);
    sums->magnitude = calloc(k, sizeof *sums->magnitude);
    sums->finite = calloc((size_t)shape->value[LUT_COLUMNS], sizeof *sums->finite);
    if (sums->sum && sums->magnitude && sums->finite) return 0;
    return assay_error("out of host memory for the checksum");
}

void column_sums_release(struct column_sums *sums)
{
    free(sums->finite);
    free(sums->magnitude);
    free(sums->sum);
}

void column_sums_add(struct column_sums *sums, const struct assay_shape *shape, const float *b,
                     int64_t first, int64_t count)
{
    int64_t k = shape->value[LUT_K];
    for (int64_t row = 0; row < count; row++) {
        const float *entries = b + row * k;
        bool finite = true;
        for (int64_t i = 0; i < k; i++)
            finite &= isfinite(entries[i]) != 0;
        sums->finite[first + row] = finite;
        for (int64_t i = 0; i < k && finite; i++) {
            sums->sum[i] += (double)entries[i];
            sums->magnitude[i] += fabs((double)entries[i]);
        }
    }
}

/* One row. Levels are separate terms, because a variant may add them up separately. */
static struct row_sum onesided_row(const struct lut_geometry *geometry,
                                   const struct codebook *codebook, int lattice,
                                   const struct lut_codes *codes, const struct column_sums *sums,
                                   int64_t row)
{
    struct row_sum result = {0, 0};
    for (int64_t block = 0; block < geometry->blocks; block++)
        for (int m = 0; m < geometry->levels; m++) {
            int64_t index = lut_read(codes, row, block * geometry->levels + m);
            double weight = lut_weight(geometry->q, m);
            for (int i = 0; i < geometry->d && block * geometry->d + i < geometry->k; i++) {
                double entry = weight * (double)onesided_step(lattice, i) *
                               codebook->left[index * geometry->d + i];
                result.expected += entry * sums->sum[block * geometry->d + i];
                result.bound += fabs(entry) * sums->magnitude[block * geometry->d + i];
            }
        }
    result.bound *= (double)(geometry->k * geometry->levels + 8) * 0x1p-24;
    return result;
}

int onesided_row_sums(const struct assay_shape *shape, const void *a,
                      const struct column_sums *sums, int64_t count, struct row_sum *out)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    struct lut_codes codes = lut_codes(&geometry, a, count);
    if (codebook == NULL) return -1;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < count; row++)
        out[row] =
            onesided_row(&geometry, codebook, (int)shape->value[LUT_LATTICE], &codes, sums, row);
    return 0;
}

/* ---------------------------------------------------------------- judging -- */

int64_t row_sums_wrong(const struct assay_shape *shape, const float *c, const bool *finite,
                       const struct row_sum *sums, int64_t count)
{
    int64_t columns = shape->value[LUT_COLUMNS];
    for (int64_t row = 0; row < count; row++) {
        double sum = 0, magnitude = 0;
        for (int64_t column = 0; column < columns; column++) {
            if (!finite[column]) continue;
            sum += (double)c[row * columns + column];
            magnitude += fabs((double)c[row * columns + column]);
        }
        /* Each element is rounded to fp32 and again after beta: half a unit of 2^-23 each, and the
         * product of both. */
        double bound = sums[row].bound + 0x1.01p-23 * magnitude;
        if (!(fabs(sum - sums[row].expected) <= bound)) return row; /* also where C holds a NaN */
    }
    return -1;
}
