/*
 * shape.c - a shape of the lookup-table family worked out: sizes, which shapes are impossible,
 * buffers and what they are filled with.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lut.h"

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
    /* quantized_linear encodes its activations in units of beta, and passes its own shape to
     * variants of lut_matmul. */
    if (strcmp(shape->operation->name, "quantized_linear") == 0)
        geometry.unit *= lut_beta(geometry.q, geometry.levels);
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

int lut_coordinate_max(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    int sum = 0;
    for (int m = 0; m < geometry.levels; m++)
        sum += lut_weight(geometry.q, m);
    return codebook ? sum * codebook->right_max : INT_MAX;
}

double lut_worst_sum(const struct lut_geometry *geometry, const struct codebook *codebook)
{
    double weight = 0;
    for (int m = 0; m < geometry->levels; m++)
        weight += lut_weight(geometry->q, m);
    return (double)geometry->blocks * codebook->norm_max * geometry->divisor * weight * weight;
}

const char *lut_decode_unsupported(const struct assay_shape *shape)
{
    if (lut_codebook(shape) == NULL) return "out of host memory for a codebook";
    return lut_coordinate_max(shape) > 127 ? "decoded coordinates do not fit int8" : NULL;
}

/* --------------------------------------------------------------- buffers -- */

/* Whether any bytes are valid codes: all bit patterns are, and no row is padded. */
static bool packed_is_dense(const struct lut_geometry *geometry)
{
    return (int64_t)1 << geometry->bits == geometry->count &&
           geometry->blocks * geometry->levels * geometry->bits % 128 == 0;
}

struct assay_buffer lut_codes_buffer(const struct lut_geometry *geometry, const char *name,
                                     int64_t rows)
{
    static const enum assay_type types[LUT_FORMATS] = {ASSAY_F32, ASSAY_I32, ASSAY_U8, ASSAY_U8};
    /* Stored codes: a baseline decodes them once, in setup. */
    struct assay_buffer buffer = {.name = name,
                                  .role = ASSAY_IN,
                                  .type = types[geometry->format],
                                  .fill = {.kind = ASSAY_FILL_INTEGER},
                                  .constant = true};
    buffer.count = rows * geometry->stride_bytes / (int64_t)assay_type_bytes(buffer.type);
    buffer.fill.b = (double)(geometry->count - 1);
    if (geometry->format == LUT_PACKED) {
        buffer.fill.b = 255;
        if (!packed_is_dense(geometry)) buffer.fill.kind = ASSAY_FILL_CUSTOM;
    }
    return buffer;
}

struct assay_buffer lut_entries_buffer(const char *name, enum assay_role role, int64_t rows,
                                       int64_t columns)
{
    return (struct assay_buffer){
        .name = name, .role = role, .type = ASSAY_F32, .count = rows * columns};
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

/* Scales as overload protection leaves them: T = 0 for three blocks in four, else 1 to 3. */
void lut_fill_scales(int64_t count, uint64_t seed, float beta, float *host)
{
    static const int exponents[16] = {[12] = 1, [13] = 1, [14] = 2, [15] = 3};
    for (int64_t i = 0; i < count; i++)
        host[i] = ldexpf(beta, exponents[lut_mix(seed, (uint64_t)i) & 15]);
}

/* ------------------------------------------------------------------ work -- */

struct assay_work lut_work(const struct lut_geometry *geometry, double a_row_bytes,
                           double b_row_bytes, enum assay_arithmetic arithmetic)
{
    double rows = (double)geometry->rows, columns = (double)geometry->columns;
    struct assay_work work = {.read_bytes = rows * a_row_bytes + columns * b_row_bytes,
                              .write_bytes = 4 * rows * columns};
    work.ops[arithmetic] = 2 * rows * columns * (double)geometry->k;
    return work;
}

double lut_reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[LUT_K];
}
