/*
 * lut_matmul.c - operation lut_matmul: the product of two matrices that exist as
 * codes of a nested lattice (lut.h has the formula).
 *
 * Operations: 2 rows K columns, the multiply-adds that the decoded operands would
 * take; a table does M^2 lookups a pair of blocks in their place.
 * Bytes: the codes of A and B, the scales where scaling is on, 4 an element of C.
 * The table is no input: a variant makes the one it wants in setup.
 *
 * Without scaling every C is a whole number (A2: a multiple of 1/2) and every
 * variant gives exactly it, rounded once to fp32. Baselines on decoded operands
 * do too while K * largest products stay below 2^24, the whole numbers of fp32;
 * beyond that they get the bound of an fp32 sum.
 *
 * Scaling on: s = beta 2^T a block, T the overload exponent. Terms are floats and
 * the bound is that of a sum of K / d of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dims.h"

const char *const lut_code_names[] = {"q2m1", "q2m2", "q2m4", "q3m2", "q4m1", "q4m2", "q4m3", NULL};
const char *const lut_index_names[] = {"fp32", "int32", "int8", "packed", NULL};
const char *const lut_scaled_names[] = {"off", "on", NULL};

void lut_code(int64_t code, int *q, int *levels)
{
    static const struct {
        int q, levels;
    } codes[] = {{2, 1}, {2, 2}, {2, 4}, {3, 2}, {4, 1}, {4, 2}, {4, 3}};
    *q = codes[code].q;
    *levels = codes[code].levels;
}

/* ---------------------------------------------------------------- shapes -- */

static int64_t row_bytes(const struct lut_geometry *geometry)
{
    int64_t indices = geometry->blocks * geometry->levels;
    if (geometry->format == LUT_INT8) return indices;
    if (geometry->format != LUT_PACKED) return 4 * indices;
    return (indices * geometry->bits + 127) / 128 * 16;
}

struct lut_geometry lut_geometry(const struct assay_shape *shape)
{
    const struct lattice *lattice = &codebook_lattices[shape->value[LUT_LATTICE]];
    struct lut_geometry geometry = {
        .rows = shape->value[LUT_ROWS],
        .columns = shape->value[LUT_COLUMNS],
        .k = shape->value[LUT_K],
        .d = lattice->d,
        .format = (int)shape->value[LUT_INDEX],
        .scaled = shape->value[LUT_SCALED] != 0,
        .divisor = lattice->divisor,
        .unit = lattice->unit,
        .count = 1,
    };
    lut_code(shape->value[LUT_CODE], &geometry.q, &geometry.levels);
    geometry.blocks = (geometry.k + geometry.d - 1) / geometry.d;
    for (int i = 0; i < geometry.d; i++)
        geometry.count *= geometry.q;
    while ((int64_t)1 << geometry.bits < geometry.count)
        geometry.bits++;
    geometry.stride_bytes = row_bytes(&geometry);
    return geometry;
}

struct lut_codes lut_codes(const struct lut_geometry *geometry, const void *data, int64_t rows)
{
    return (struct lut_codes){.data = data,
                              .rows = rows,
                              .stride_bytes = geometry->stride_bytes,
                              .format = geometry->format,
                              .bits = geometry->bits};
}

const struct codebook *lut_codebook(const struct assay_shape *shape)
{
    int q, levels;
    lut_code(shape->value[LUT_CODE], &q, &levels);
    return codebook_get((int)shape->value[LUT_LATTICE], q);
}

/* --------------------------------------------------------------- reasons -- */

const char *lut_index_unsupported(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.format == LUT_INT8 && geometry.count > 256)
        return "more than 256 codewords: an index does not fit 8 bits";
    return NULL;
}

const char *lut_table_unsupported(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.count * geometry.count > LUT_TABLE_MAX)
        return "the table of q^2d entries is too large (E8 q=4: 4.3 G entries)";
    return NULL;
}

const char *lut_decode_unsupported(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    int sum = 0;
    if (codebook == NULL) return "out of host memory for a codebook";
    for (int m = 0; m < geometry.levels; m++)
        sum += lut_weight(geometry.q, m);
    if (sum * codebook->right_max > 127) return "decoded coordinates do not fit int8";
    return NULL;
}

/* --------------------------------------------------------------- buffers -- */

/* All bit patterns are codes and no row is padded: any bytes will do. */
static bool packed_is_dense(const struct lut_geometry *geometry)
{
    return (int64_t)1 << geometry->bits == geometry->count &&
           geometry->blocks * geometry->levels * geometry->bits % 128 == 0;
}

struct assay_buffer lut_codes_buffer(const struct lut_geometry *geometry, const char *name,
                                     int64_t rows)
{
    static const enum assay_type types[LUT_FORMATS] = {ASSAY_F32, ASSAY_I32, ASSAY_U8, ASSAY_U8};
    struct assay_buffer buffer = {.name = name,
                                  .role = ASSAY_IN,
                                  .type = types[geometry->format],
                                  .fill = {.kind = ASSAY_FILL_INTEGER}};
    buffer.count = rows * geometry->stride_bytes / (int64_t)assay_type_bytes(buffer.type);
    buffer.fill.b = (double)(geometry->count - 1);
    if (geometry->format == LUT_PACKED) {
        buffer.fill.b = 255;
        if (!packed_is_dense(geometry)) buffer.fill.kind = ASSAY_FILL_CUSTOM;
    }
    return buffer;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lut_geometry geometry = lut_geometry(shape);
    struct assay_buffer scale = {
        .role = ASSAY_IN, .type = ASSAY_F32, .fill = {.kind = ASSAY_FILL_CUSTOM}};
    out[LUT_A] = lut_codes_buffer(&geometry, "a", geometry.rows);
    out[LUT_B] = lut_codes_buffer(&geometry, "b", geometry.columns);
    out[LUT_C] = (struct assay_buffer){.name = "c",
                                       .role = ASSAY_OUT,
                                       .type = ASSAY_F32,
                                       .count = geometry.rows * geometry.columns};
    if (!geometry.scaled) return 3;
    out[LUT_SCALE_A] = out[LUT_SCALE_B] = scale;
    out[LUT_SCALE_A].name = "scale_a";
    out[LUT_SCALE_A].count = geometry.rows * geometry.blocks;
    out[LUT_SCALE_B].name = "scale_b";
    out[LUT_SCALE_B].count = geometry.columns * geometry.blocks;
    return 5;
}

/* splitmix64's finaliser (Steele, Lea and Flood, OOPSLA 2014, section 4). */
uint64_t lut_mix(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void lut_fill_codes(const struct lut_geometry *geometry, int64_t rows, uint64_t seed, void *host)
{
    int64_t indices = geometry->blocks * geometry->levels;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        unsigned char *out = (unsigned char *)host + row * geometry->stride_bytes;
        memset(out, 0, (size_t)geometry->stride_bytes);
        for (int64_t at = 0; at < indices; at++) {
            uint64_t index =
                lut_mix(seed, (uint64_t)(row * indices + at)) % (uint64_t)geometry->count;
            for (int bit = 0; bit < geometry->bits; bit++) {
                int64_t place = at * geometry->bits + bit;
                out[place / 8] |= (unsigned char)((index >> bit & 1) << place % 8);
            }
        }
    }
}

/* Three blocks in four did not overload; T of the others is 1 to 3. */
void lut_fill_scales(int64_t count, uint64_t seed, float beta, float *host)
{
    static const int exponents[16] = {[12] = 1, [13] = 1, [14] = 2, [15] = 3};
    for (int64_t i = 0; i < count; i++)
        host[i] = ldexpf(beta, exponents[lut_mix(seed, (uint64_t)i) & 15]);
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
    double rows = (double)geometry.rows, columns = (double)geometry.columns;
    double row_bytes = (double)geometry.stride_bytes;
    if (geometry.scaled) row_bytes += 4.0 * (double)geometry.blocks;
    return (struct assay_work){
        .read_bytes = (rows + columns) * row_bytes,
        .write_bytes = 4.0 * rows * columns,
        .ops = {[ASSAY_INT8_OPS] = 2.0 * rows * columns * (double)geometry.k},
    };
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

static double reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[LUT_K];
}

static const char *const baselines[] = {"cublaslt_int8", "cublas_fp32", "openblas", "host_decode",
                                        NULL};

static const struct assay_operation operation = {
    .name = "lut_matmul",
    .summary = "C = sum of s s q^(m+n) T[b_m(i,k), b_n(j,k)]: A and B as lattice codes",
    .dims = {LUT_DIMS(512, 512, 512), LUT_DIM_SCALED},
    .supports = lut_index_unsupported,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
