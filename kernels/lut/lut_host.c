/* lut_host.c - decoding and exact sums on the host; see lut.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lut.h"

void lut_decode_block(const struct codebook *codebook, const struct lut_geometry *geometry,
                      const struct lut_codes *codes, bool right, int64_t row, int64_t block,
                      int out[CODEBOOK_MAX_D])
{
    const int8_t *points = right ? codebook->right : codebook->left;
    int weight = 1;
    memset(out, 0, CODEBOOK_MAX_D * sizeof *out);
    for (int m = 0; m < geometry->levels; m++, weight *= geometry->q) {
        int64_t index = lut_read(codes, row, block * geometry->levels + m);
        for (int i = 0; i < geometry->d; i++)
            out[i] += weight * points[index * geometry->d + i];
    }
}

static int64_t block_sum(const struct codebook *codebook, const struct lut_geometry *geometry,
                         const struct lut_codes *a, const struct lut_codes *b, int64_t row,
                         int64_t column, int64_t block)
{
    int x[CODEBOOK_MAX_D], y[CODEBOOK_MAX_D];
    int64_t sum = 0;
    lut_decode_block(codebook, geometry, a, false, row, block, x);
    lut_decode_block(codebook, geometry, b, true, column, block, y);
    for (int i = 0; i < geometry->d; i++)
        sum += x[i] * y[i];
    return sum / geometry->divisor;
}

int64_t lut_exact(const struct codebook *codebook, const struct lut_geometry *geometry,
                  const void *a, const void *b, int64_t row, int64_t column)
{
    struct lut_codes left = lut_codes(geometry, a, geometry->rows);
    struct lut_codes right = lut_codes(geometry, b, geometry->columns);
    int64_t sum = 0;
    for (int64_t block = 0; block < geometry->blocks; block++)
        sum += block_sum(codebook, geometry, &left, &right, row, column, block);
    return sum;
}

static float scaled_sum(const struct codebook *codebook, const struct lut_geometry *geometry,
                        const void *const in[], int64_t row, int64_t column)
{
    const float *scale_a = (const float *)in[LUT_SCALE_A] + row * geometry->blocks;
    const float *scale_b = (const float *)in[LUT_SCALE_B] + column * geometry->blocks;
    struct lut_codes a = lut_codes(geometry, in[LUT_A], geometry->rows);
    struct lut_codes b = lut_codes(geometry, in[LUT_B], geometry->columns);
    float sum = 0;
    for (int64_t block = 0; block < geometry->blocks; block++) {
        float scale = scale_a[block] * scale_b[block];
        sum = fmaf(scale, (float)block_sum(codebook, geometry, &a, &b, row, column, block), sum);
    }
    return sum;
}

int lut_model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
              int64_t end, void *out)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    float *values = out;
    if (codebook == NULL) return -1;
    for (int64_t at = begin; at < end; at++) {
        int64_t row = at / geometry.columns, column = at % geometry.columns;
        float sum = geometry.scaled
                        ? scaled_sum(codebook, &geometry, in, row, column)
                        : (float)lut_exact(codebook, &geometry, in[LUT_A], in[LUT_B], row, column);
        values[at - begin] = sum * geometry.unit;
    }
    return 0;
}

int lut_model_products(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, void *out)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    int32_t *products = out;
    if (codebook == NULL) return -1;
    for (int64_t at = begin; at < end; at++)
        products[at - begin] =
            (int32_t)(geometry.divisor * lut_exact(codebook, &geometry, in[LUT_A], in[LUT_B],
                                                   at / geometry.columns, at % geometry.columns));
    return 0;
}

int lut_expected_row_sums(const struct assay_shape *shape, const void *a, const int64_t *sums,
                          int count, int64_t *expected)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    struct lut_codes codes = lut_codes(&geometry, a, count);
    if (codebook == NULL) return -1;
    for (int row = 0; row < count; row++) {
        expected[row] = 0;
        for (int64_t block = 0; block < geometry.blocks; block++) {
            int x[CODEBOOK_MAX_D];
            lut_decode_block(codebook, &geometry, &codes, false, row, block, x);
            for (int i = 0; i < geometry.d; i++)
                expected[row] += x[i] * sums[block * geometry.d + i];
        }
    }
    return 0;
}

int64_t lut_row_sum_error(const struct assay_shape *shape, const int64_t *expected,
                          const int32_t *products, int count)
{
    struct lut_geometry geometry = lut_geometry(shape);
    int64_t worst = 0;
    for (int row = 0; row < count; row++) {
        int64_t error = -expected[row];
        for (int64_t column = 0; column < geometry.columns; column++)
            error += products[row * geometry.columns + column];
        if (llabs(error) > worst) worst = llabs(error);
    }
    return worst;
}
