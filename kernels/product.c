#include "product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double U = 0x1p-24;

double product_sigma(enum product_unit unit, double terms, double d2)
{
    double d = sqrt(d2);
    if (unit == PRODUCT_FP32) return 0.5 * U * sqrt(terms) * d;
    return U * d * hypot(sqrt(terms), 0.105 * terms);
}

static double d2_of(const struct product_sum *sum)
{
    return sum->squares + sum->value * sum->value;
}

double product_bound(enum product_unit unit, double terms, const struct product_sum *sum)
{
    double always = (terms + 1) * (unit == PRODUCT_FP32 ? U : 2 * U) * sum->magnitude;
    return fmin(always, PRODUCT_SIGMAS * product_sigma(unit, terms, d2_of(sum)));
}

double product_half_ulp(enum assay_type type, double value)
{
    int exponent, bits = type == ASSAY_BF16 ? 8 : type == ASSAY_F16 ? 11 : 24;
    int least = type == ASSAY_F16 ? -13 : -125; /* of normal numbers in [1/2, 1) 2^e */
    frexp(value, &exponent);
    if (value == 0 || exponent < least) exponent = least;
    return ldexp(1, exponent - bits - 1);
}

double product_rounded(enum assay_type type, double value, double error)
{
    return error + product_half_ulp(type, fabs(value) + error);
}

/* ------------------------------------------------------- Freivalds' check */

void product_load_matrix(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct product_matrix *m = matrix;
    int64_t at = row * m->depth + first;
    switch (m->type) {
    case ASSAY_F32:
        for (int i = 0; i < count; i++)
            out[i] = (double)((const float *)m->base)[at + i];
        break;
    case ASSAY_I8:
        for (int i = 0; i < count; i++)
            out[i] = ((const int8_t *)m->base)[at + i];
        break;
    case ASSAY_BF16: /* the upper half of an fp32 */
        for (int i = 0; i < count; i++) {
            uint32_t bits = (uint32_t)((const uint16_t *)m->base)[at + i] << 16;
            float value;
            memcpy(&value, &bits, sizeof value);
            out[i] = (double)value;
        }
        break;
    default:
        for (int i = 0; i < count; i++)
            out[i] = assay_load(m->type, m->base, at + i);
    }
}

double product_row_bound(enum product_unit unit, double terms, double share, double d2)
{
    return PRODUCT_SIGMAS * hypot(product_sigma(unit, terms, d2), share * sqrt(d2));
}

/* Sums over the rows of `right`, of one entry. */
struct column {
    double with_sign, plain, squares;
};

static int chunk_length(const struct product *product, int64_t first)
{
    int64_t left = product->depth - first;
    return (int)(left < PRODUCT_CHUNK ? left : PRODUCT_CHUNK);
}

void product_add_terms(struct product_sum *sum, const struct product *product, int64_t row,
                       int64_t column)
{
    double left[PRODUCT_CHUNK], right[PRODUCT_CHUNK];
    for (int64_t first = 0; first < product->depth; first += PRODUCT_CHUNK) {
        int count = chunk_length(product, first);
        product->load_left(product->left, row, first, count, left);
        product->load_right(product->right, column, first, count, right);
        for (int i = 0; i < count; i++)
            product_add(sum, left[i] * right[i]);
    }
}

static void add_right(const struct product *product, const double *sign, int64_t first,
                      struct column *sums)
{
    int count = chunk_length(product, first);
    double entry[PRODUCT_CHUNK];
    for (int64_t j = 0; j < product->columns; j++) {
        product->load_right(product->right, j, first, count, entry);
        for (int i = 0; i < count; i++) {
            sums[i].with_sign += sign[j] * entry[i];
            sums[i].plain += entry[i];
            sums[i].squares += entry[i] * entry[i];
        }
    }
}

static void add_left(const struct product *product, const struct column *sums, int64_t row,
                     double *expected, double *d2)
{
    double entry[PRODUCT_CHUNK], squares = 0, mean = 0;
    *expected = 0;
    for (int64_t first = 0; first < product->depth; first += PRODUCT_CHUNK) {
        int count = chunk_length(product, first);
        product->load_left(product->left, row, first, count, entry);
        for (int i = 0; i < count; i++) {
            *expected += entry[i] * sums[first + i].with_sign;
            mean += entry[i] * sums[first + i].plain;
            squares += entry[i] * entry[i] * sums[first + i].squares;
        }
    }
    *d2 = 2 * squares + mean * mean / (double)product->columns;
}

int product_rows(const struct product *product, const double *sign, double *expected, double *d2)
{
    struct column *sums = calloc((size_t)product->depth, sizeof *sums);
    if (sums == NULL) return assay_error("out of host memory for the check of a product");
    bool large = (product->rows + product->columns) * product->depth > 1 << 16;
#pragma omp parallel if (large)
    {
#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < product->depth; first += PRODUCT_CHUNK)
            add_right(product, sign, first, sums + first);
#pragma omp for schedule(static)
        for (int64_t row = 0; row < product->rows; row++)
            add_left(product, sums, row, &expected[row], &d2[row]);
    }
    free(sums);
    return 0;
}
