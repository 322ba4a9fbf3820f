/*
 * lut_matmul.c - operation lut_matmul: the product of two matrices that exist as codes of a nested
 * lattice (lut.h has the formula).
 *
 * Operations: 2 * rows * K * columns, the multiply-adds of the decoded operands; a table does M^2
 * lookups per pair of blocks instead. Bytes: the codes of A and B, the scales where scaling is on,
 * 4 per element of C. The table is no input: each variant makes its own in setup.
 *
 * Without scaling every element of C is a whole number (A2: a multiple of 1/2), and every variant
 * must give it exactly, rounded once to fp32. Baselines on decoded operands do so too while K
 * times the largest product is below 2^24, where fp32 holds all whole numbers; beyond that they
 * get the bound of an fp32 sum.
 *
 * With scaling s = beta 2^T per block, where T is the overload exponent. The terms are floats, and
 * the bound is that of a sum of K / d of them.
 */
#include <stdlib.h>

#include "dims.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lut_geometry geometry = lut_geometry(shape);
    out[LUT_A] = lut_codes_buffer(&geometry, "a", geometry.rows);
    out[LUT_B] = lut_codes_buffer(&geometry, "b", geometry.columns);
    out[LUT_C] = lut_entries_buffer("c", ASSAY_OUT, geometry.rows, geometry.columns);
    if (!geometry.scaled) return 3;
    out[LUT_SCALE_A] = lut_entries_buffer("scale_a", ASSAY_IN, geometry.rows, geometry.blocks);
    out[LUT_SCALE_B] = lut_entries_buffer("scale_b", ASSAY_IN, geometry.columns, geometry.blocks);
    out[LUT_SCALE_A].fill.kind = out[LUT_SCALE_B].fill.kind = ASSAY_FILL_CUSTOM;
    return 5;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (buffer == LUT_SCALE_A)
        lut_fill_scales(geometry.rows * geometry.blocks, seed, 0.7f, host);
    else if (buffer == LUT_SCALE_B)
        lut_fill_scales(geometry.columns * geometry.blocks, seed, 0.3f, host);
    else
        lut_fill_codes(&geometry, buffer == LUT_A ? geometry.rows : geometry.columns, seed, host);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    double row_bytes = (double)geometry.stride_bytes;
    if (geometry.scaled) row_bytes += 4.0 * (double)geometry.blocks;
    return lut_work(&geometry, row_bytes, row_bytes, ASSAY_INT8_OPS);
}

/* ------------------------------------------------------------- reference -- */

/* The largest |dot product of points| a whole row can give. */
static double worst_sum(const struct lut_geometry *geometry, const struct codebook *codebook)
{
    double weight = 0;
    for (int m = 0; m < geometry->levels; m++)
        weight += lut_weight(geometry->q, m);
    return (double)geometry->blocks * codebook->norm_max * geometry->divisor * weight * weight;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    struct lut_geometry geometry = lut_geometry(shape);
    struct lut_codes a = lut_codes(&geometry, in[LUT_A], geometry.rows);
    struct lut_codes b = lut_codes(&geometry, in[LUT_B], geometry.columns);
    const struct codebook *codebook = lut_codebook(shape);
    if (codebook == NULL) return -1;
    bool exact = !geometry.scaled && worst_sum(&geometry, codebook) < 0x1p24;
    for (int64_t at = begin; at < end; at++) {
        int64_t row = at / geometry.columns, column = at % geometry.columns;
        double sum = 0, magnitude = 0;
        for (int64_t block = 0; block < geometry.blocks; block++) {
            int x[CODEBOOK_MAX_D], y[CODEBOOK_MAX_D];
            double scale = geometry.unit / geometry.divisor;
            if (geometry.scaled)
                scale *= (double)((const float *)in[LUT_SCALE_A])[row * geometry.blocks + block] *
                         ((const float *)in[LUT_SCALE_B])[column * geometry.blocks + block];
            lut_decode_block(codebook, &geometry, &a, false, row, block, x);
            lut_decode_block(codebook, &geometry, &b, true, column, block, y);
            for (int i = 0; i < geometry.d; i++) {
                sum += scale * x[i] * y[i];
                magnitude += scale * abs(x[i] * y[i]);
            }
        }
        expected[at - begin] = exact ? sum : (double)(float)sum;
        bound[at - begin] = exact ? 0 : ((double)geometry.k + 4) * 0x1p-23 * magnitude;
    }
    return 0;
}

static const char *const baselines[] = {
    "cublaslt_int8_product", "cublaslt_int8", "cublas_fp32", "openblas", "host_decode", NULL};

static const struct assay_operation operation = {
    .name = "lut_matmul",
    .summary = "C = sum of s s q^(m+n) T[b_m(i,k), b_n(j,k)]: A and B as lattice codes",
    .dims = {LUT_DIMS(512, 512, 512), LUT_DIM_SCALED},
    .supports = lut_index_unsupported,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = lut_reference_cost,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
