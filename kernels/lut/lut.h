/*
 * lut.h - what the lookup-table family shares: dims, buffers, how codes are stored and read, and
 * host models.
 *
 *   C[i,j] = sum over blocks k of s_ik s_jk
 *            sum over levels m, n of q^(m+n) T[b_m(i,k), b_n(j,k)]
 *
 * A has `rows` rows, B has `columns`. A row is K / d blocks (K padded with zeros), each of M
 * indices, level 0 first. An index is the number of one of the q^d codewords of codebook.h; index
 * 0 is the point 0. T holds the inner products of codewords.
 *
 * How an index is stored (the dim `index`):
 *
 *   fp32, int32   one element per index
 *   int8          one unsigned byte per index; needs q^d <= 256
 *   packed        ceil(log2 q^d) bits per index, little endian, a row padded with zero bits to a
 *                 multiple of 16 bytes
 */
#pragma once

#include "assay.h"
#include "codebook.h"

#ifdef __CUDACC__
#define LUT_FUNCTION static inline __host__ __device__
#else
#define LUT_FUNCTION static inline
#endif

enum { LUT_ROWS, LUT_K, LUT_COLUMNS, LUT_LATTICE, LUT_CODE, LUT_INDEX, LUT_SCALED };
enum { LUT_A, LUT_B, LUT_C, LUT_SCALE_A, LUT_SCALE_B }; /* scales only where scaled is on */

enum { LUT_FP32, LUT_INT32, LUT_INT8, LUT_PACKED, LUT_FORMATS };

/* The largest table that is built, in entries. (E8 with q = 4 would have 2^32.) */
#define LUT_TABLE_MAX ((int64_t)1 << 26)

/* One operand's codes. */
struct lut_codes {
    const void *data;
    int64_t rows, stride_bytes; /* from row to row */
    int format, bits;           /* LUT_FP32 ...; bits of a packed index */
};

/* A shape in the terms that kernels use. No bytes without a value: a gate compares arguments of
 * kernels whole. */
struct lut_geometry {
    int64_t rows, columns, k, blocks;
    int64_t count; /* q^d */
    int64_t stride_bytes;
    int d, q, levels;
    int format, bits;
    int scaled;  /* 1 or 0 */
    int divisor; /* dot product of points / divisor = table entries' sum */
    float unit;  /* that sum * unit = C */
};

/* Index number `at` (block * levels + level) of a row. */
LUT_FUNCTION uint32_t lut_read(const struct lut_codes *codes, int64_t row, int64_t at)
{
    const unsigned char *base = (const unsigned char *)codes->data + row * codes->stride_bytes;
    switch (codes->format) {
    case LUT_FP32:
        return (uint32_t)((const float *)base)[at];
    case LUT_INT32:
        return (uint32_t)((const int32_t *)base)[at];
    case LUT_INT8:
        return base[at];
    default: {
        const uint32_t *words = (const uint32_t *)base;
        uint32_t bit = (uint32_t)at * (uint32_t)codes->bits; /* rows have at most 2^22 bits */
        int shift = (int)(bit & 31);
        uint32_t value = words[bit >> 5] >> shift;
        if (shift + codes->bits > 32) value |= words[(bit >> 5) + 1] << (32 - shift);
        return value & (0xffffffffu >> (32 - codes->bits));
    }
    }
}

/* q^m, the weight of level m. */
LUT_FUNCTION int lut_weight(int q, int level)
{
    int weight = 1;
    for (int m = 0; m < level; m++)
        weight *= q;
    return weight;
}

/* 1 / beta: activations of standard deviation 1 are scaled to 0.1125 of the code's range, q^M (see
 * linear.h). With q = 2 more levels add no range. A shortest vector and its negative belong to one
 * coset, both on the edge of the cell of 2 E8, and the dither chooses one of them for both. Half of
 * the other one is rounded to itself, in every further level, so it never becomes 0. */
LUT_FUNCTION float lut_inverse_beta(int q, int levels)
{
    return 0.1125f * (float)lut_weight(q, q == 2 ? 1 : levels);
}

LUT_FUNCTION float lut_beta(int q, int levels)
{
    return 1.0f / lut_inverse_beta(q, levels);
}

/* log2 of a divisor: divisors are 1, 2 or 4, and divide their sums. */
LUT_FUNCTION int lut_shift(int divisor)
{
    return divisor >> 1;
}

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape.c: shapes, buffers, work */

extern const char *const lut_code_names[];   /* "q2m1", ... ended by NULL */
extern const char *const lut_index_names[];  /* fp32, int32, int8, packed */
extern const char *const lut_scaled_names[]; /* off, on */

void lut_code(int64_t code, int *q, int *levels);

/* For any shape whose dims 0 to 6 are those of LUT_ROWS ... LUT_SCALED. */
struct lut_geometry lut_geometry(const struct assay_shape *shape);
struct lut_codes lut_codes(const struct lut_geometry *geometry, const void *data, int64_t rows);
const struct codebook *lut_codebook(const struct assay_shape *shape);

/* Bytes and elements of `rows` rows of codes, as a buffer. */
struct assay_buffer lut_codes_buffer(const struct lut_geometry *geometry, const char *name,
                                     int64_t rows);
/* rows x columns of fp32. */
struct assay_buffer lut_entries_buffer(const char *name, enum assay_role role, int64_t rows,
                                       int64_t columns);
/* A 64-bit hash of (seed, index). */
uint64_t lut_mix(uint64_t seed, uint64_t index);
/* Write codes that no integer fill can: packed, with zero padding. */
void lut_fill_codes(const struct lut_geometry *geometry, int64_t rows, uint64_t seed, void *host);
void lut_fill_scales(int64_t count, uint64_t seed, float beta, float *host);

/* Work of a product whose operands have so many bytes per row. */
struct assay_work lut_work(const struct lut_geometry *geometry, double a_row_bytes,
                           double b_row_bytes, enum assay_arithmetic arithmetic);
/* assay_operation.reference_cost: an element is K multiply-adds. */
double lut_reference_cost(const struct assay_shape *shape);

/* Why the codes of this shape cannot be stored, or NULL. */
const char *lut_index_unsupported(const struct assay_shape *shape);
/* Why no table is built for this shape, or NULL. */
const char *lut_table_unsupported(const struct assay_shape *shape);
/* The largest |coordinate| of a decoded operand, the metric included. */
int lut_coordinate_max(const struct assay_shape *shape);
/* The largest |dot product of points| a whole row can give. */
double lut_worst_sum(const struct lut_geometry *geometry, const struct codebook *codebook);
/* Why decoded operands do not fit int8, or NULL. */
const char *lut_decode_unsupported(const struct assay_shape *shape);

/* ---- lut_host.c: decoding and exact sums */

/* The point of one block, levels weighted and added; right: with the metric. */
void lut_decode_block(const struct codebook *codebook, const struct lut_geometry *geometry,
                      const struct lut_codes *codes, bool right, int64_t row, int64_t block,
                      int out[CODEBOOK_MAX_D]);

/* C[row, column] of lut_matmul in table units, without scales: exact. */
int64_t lut_exact(const struct codebook *codebook, const struct lut_geometry *geometry,
                  const void *a, const void *b, int64_t row, int64_t column);

/* The bits that every kernel must give. Without scaling, the exact whole number as fp32; with it,
 * the terms of the blocks added in order by fma(s_ik s_jk, sum of the block, .). */
int lut_model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
              int64_t end, void *out);

/* The products of decoded points before they are divided and scaled, int32: what an int8
 * product of a library writes. Scaling off only. */
int lut_model_products(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, void *out);

/* A check without table or product of matrices: the sum over j of C[i,j] is A_i . (sum over j of
 * B_j). `sums`: the sums over all rows of B, blocks * d of them. lut_expected_row_sums: the row
 * sums that follow for `count` rows of A, not yet divided. lut_row_sum_error: the largest
 * difference of so many rows of products. Without scaling only. */
int lut_expected_row_sums(const struct assay_shape *shape, const void *a, const int64_t *sums,
                          int count, int64_t *expected);
int64_t lut_row_sum_error(const struct assay_shape *shape, const int64_t *expected,
                          const int32_t *products, int count);

#ifdef __cplusplus
}
#endif
