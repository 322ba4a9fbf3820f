/*
 * quantize.c - operation fp8_quantize: x [rows, columns] to floats of 8 bits, each group of
 * elements by a scale of its own, found on the fly. A group is a row (scale=token), or 128
 * successive columns of a row from a multiple of 128 on (scale=1x128; the last may be shorter).
 *
 *   a = max(2^-100, the largest finite |x| of the group)
 *   scales = a / M,  y = code(x (M / a)),  M = 448 (e4m3) or 57344 (e5m2)
 *
 * code() rounds to nearest, ties to even, and saturates at M (kernels/fp8/fp8.h, assay_store).
 *
 *   zeros       keep their sign. A group of zeros has the scale 2^-100 / M and codes 0
 *   denormals   as other numbers; a group below 2^-100 is quantised as if a were 2^-100, so that
 *               M / a is finite and no scale is 0
 *   infinities  do not count for a, and become M with their sign
 *   NaN         does not count for a, and becomes NaN
 *
 * scales is fp32, [rows, groups of a row], row-major; x is close to y times the scale.
 *
 * Bytes per element: 4 read (fp32) or 2 (bf16, fp16), 1 written; and 4 written per group.
 * Operations per element: a comparison and a multiplication.
 *
 * Right answers differ only near ties: the quotient and the product are rounded, so q may be off
 * by 2^-23 of itself and fall to the other side. Such a code is NEAR. Where the exact quotient is a
 * tie both sides are right: in 16-bit inputs ties are frequent (3/4 a is one, 21 times a power of
 * two), and no other quotient comes nearer to one than 2^-16 of itself.
 */
#include <math.h>

#include "base/fill.h"
#include "fp8.h"

static const char *const inputs[] = {"fp32", "bf16", "fp16", NULL};
static const char *const formats[] = {"e4m3", "e5m2", NULL};
static const char *const scales[] = {"token", "1x128", NULL};
static const char *const data[] = {"plain", "special", NULL};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[FP8_ROWS] > ((int64_t)1 << 40) / shape->value[FP8_COLUMNS])
        return "x has more than 2^40 elements";
    return NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t rows = shape->value[FP8_ROWS], count = rows * shape->value[FP8_COLUMNS];
    out[FP8_X] = (struct assay_buffer){.name = "x",
                                       .role = ASSAY_IN,
                                       .type = fp8_input_type(shape->value[FP8_INPUT]),
                                       .count = count,
                                       .fill = {.kind = ASSAY_FILL_CUSTOM}};
    out[FP8_Y] = (struct assay_buffer){.name = "y",
                                       .role = ASSAY_OUT,
                                       .type = fp8_format(shape->value[FP8_FORMAT]).type,
                                       .count = count};
    out[FP8_SCALES] = (struct assay_buffer){
        .name = "scales", .role = ASSAY_OUT, .type = ASSAY_F32, .count = rows * fp8_groups(shape)};
    return 3;
}

/* ------------------------------------------------------------------- data -- */

/* Blocks of 128 columns have magnitudes of their own, so that the scale of another is a wrong
 * answer. One block of a row is larger than all others: the last, the first, or any. */
static float block_amplitude(uint64_t seed, int64_t row, int64_t block, int64_t blocks)
{
    uint64_t bits = fill_hash(~seed, (uint64_t)row), mine = fill_hash(bits, (uint64_t)block);
    int64_t largest = (int64_t)(bits >> 8 & 0xffffff) % blocks;
    if (row % 4 == 0) largest = blocks - 1;
    if (row % 4 == 1) largest = 0;
    int exponent = (int)(bits >> 32 & 7) - 4 - (block == largest ? 0 : 1 + (int)(mine & 3));
    return ldexpf(1.0f + (float)(mine >> 57) * 0x1p-7f, exponent);
}

/* The amplitude with special data: zeros, and what lies near the ends of fp32 (of fp16). */
static float special_amplitude(uint64_t seed, int64_t row, int64_t block, int64_t input)
{
    const float wide[] = {0, 0x1p-126f, 0x1p-101f, 0x1.8p-100f, 0x1p127f, 1};
    const float narrow[] = {0, 0x1p-24f, 0x1p-15f, 0x1.8p-14f, 0x1.8p15f, 1};
    uint64_t bits = fill_hash(fill_hash(seed, (uint64_t)row), (uint64_t)block);
    return (input == FP8_FP16 ? narrow : wide)[bits % 6];
}

/* The one element that is as large as the block's amplitude, by which rows of the block's number
 * of rows: the last, the first, or any. */
static int64_t peak_of(uint64_t seed, int64_t row, int64_t block, int64_t width)
{
    uint64_t bits = fill_hash(seed ^ 0x5065616bu, (uint64_t)(row * 8191 + block));
    if (row % 4 == 0) return width - 1;
    if (row % 4 == 1) return 0;
    return (int64_t)(bits % (uint64_t)width);
}

/* Uniform below the amplitude by 2^-8, so that none is rounded to it in bf16. One in 256 is a tie
 * (3/4 of the amplitude times a power of two), a zero of either sign or a denormal; one in
 * 16 are smaller by a power of two, down to what the format cannot hold. */
static float element(float amplitude, uint64_t bits)
{
    if (bits % 256 == 0) {
        const float hard[] = {0.75f * amplitude,   -0.375f * amplitude, 0.0f,      -0.0f,
                              0.1875f * amplitude, -0.75f * amplitude,  0x1p-130f, -0x1p-130f};
        return hard[bits >> 8 & 7];
    }
    float value = amplitude * ((float)(int32_t)(bits >> 32) * (0x1p-31f * (1 - 0x1p-8f)));
    return bits % 16 == 1 ? ldexpf(value, -(int)(bits >> 8 & 31)) : value;
}

static float special_element(float value, uint64_t bits)
{
    const float special[] = {INFINITY, -INFINITY, NAN, 0.0f};
    return bits % 61 == 0 ? special[bits >> 8 & 3] : value;
}

static void fill_block(const struct assay_shape *shape, uint64_t seed, int64_t row, int64_t block,
                       void *host)
{
    int64_t columns = shape->value[FP8_COLUMNS], first = block * FP8_BLOCK;
    int64_t width = columns - first < FP8_BLOCK ? columns - first : FP8_BLOCK;
    bool is_special = shape->value[FP8_DATA] == FP8_SPECIAL;
    float amplitude =
        is_special ? special_amplitude(seed, row, block, shape->value[FP8_INPUT])
                   : block_amplitude(seed, row, block, (columns + FP8_BLOCK - 1) / FP8_BLOCK);
    int64_t peak = peak_of(seed, row, block, width);
    for (int64_t i = 0; i < width; i++) {
        int64_t at = row * columns + first + i;
        uint64_t bits = fill_hash(seed, (uint64_t)at);
        float value = i != peak ? element(amplitude, bits) : bits & 1 ? amplitude : -amplitude;
        if (is_special) value = special_element(value, bits);
        assay_store(fp8_input_type(shape->value[FP8_INPUT]), host, at, (double)value);
    }
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer;
    int64_t blocks = (shape->value[FP8_COLUMNS] + FP8_BLOCK - 1) / FP8_BLOCK;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < shape->value[FP8_ROWS]; row++)
        for (int64_t block = 0; block < blocks; block++)
            fill_block(shape, seed, row, block, host);
    return 0;
}

/* -------------------------------------------------------------- reference -- */

static struct assay_work work(const struct assay_shape *shape)
{
    double rows = (double)shape->value[FP8_ROWS];
    double count = rows * (double)shape->value[FP8_COLUMNS];
    return (struct assay_work){
        .read_bytes = count * (double)assay_type_bytes(fp8_input_type(shape->value[FP8_INPUT])),
        .write_bytes = count + 4.0 * rows * (double)fp8_groups(shape),
        .ops = {[ASSAY_FP32] = 2.0 * count},
    };
}

/* a of group `group`, counted over all rows. */
static double largest(const struct assay_shape *shape, const void *x, int64_t group)
{
    int64_t columns = shape->value[FP8_COLUMNS], groups = fp8_groups(shape);
    int64_t row = group / groups, first = group % groups * fp8_group(shape);
    int64_t end = first + fp8_group(shape) < columns ? first + fp8_group(shape) : columns;
    double most = (double)FP8_FLOOR;
    for (int64_t i = first; i < end; i++) {
        double size =
            fabs(assay_load(fp8_input_type(shape->value[FP8_INPUT]), x, row * columns + i));
        if (isfinite(size)) most = fmax(most, size);
    }
    return most;
}

/* The codes unrounded, for `match`. M x is exact in double, so that a tie is one. */
static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)bound;
    double most = (double)fp8_format(shape->value[FP8_FORMAT]).most;
    if (buffer == FP8_SCALES) {
        for (int64_t group = begin; group < end; group++)
            expected[group - begin] = largest(shape, in[FP8_X], group) / most;
        return 0;
    }
    int64_t columns = shape->value[FP8_COLUMNS], group = -1;
    double a = 1;
    for (int64_t at = begin; at < end; at++) {
        int64_t mine = at / columns * fp8_groups(shape) + at % columns / fp8_group(shape);
        if (mine != group) a = largest(shape, in[FP8_X], mine);
        group = mine;
        double x = assay_load(fp8_input_type(shape->value[FP8_INPUT]), in[FP8_X], at);
        expected[at - begin] = x * most / a;
    }
    return 0;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[FP8_COLUMNS];
}

static double rounded(enum assay_type type, double value)
{
    uint8_t code;
    assay_store(type, &code, 0, value);
    return assay_load(type, &code, 0);
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    enum assay_type type = fp8_format(shape->value[FP8_FORMAT]).type;
    if (buffer == FP8_SCALES)
        return fabs(got - expected) <= 0x1p-23 * expected ? ASSAY_EXACT : ASSAY_WRONG;
    if (isnan(expected)) return isnan(got) ? ASSAY_EXACT : ASSAY_WRONG;
    if (got == rounded(type, expected)) return ASSAY_EXACT;
    double low = rounded(type, expected * (1 - 0x1p-22));
    double high = rounded(type, expected * (1 + 0x1p-22));
    if (got != low && got != high) return ASSAY_WRONG;
    return expected == (low + high) / 2 ? ASSAY_EXACT : ASSAY_NEAR;
}

static const char *const baselines[] = {"twopass", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "fp8_quantize",
    .summary = "a = max |x| of a group; scale a / M, y = fp8(x (M / a)), M = 448 or 57344",
    .dims = {[FP8_ROWS] = {.name = "rows",
                           .summary = "tokens",
                           .fallback = 1024,
                           .min = 1,
                           .max = (int64_t)1 << 24},
             [FP8_COLUMNS] = {.name = "columns",
                              .summary = "elements of a token",
                              .fallback = 4096,
                              .min = 1,
                              .max = (int64_t)1 << 20},
             [FP8_INPUT] = {.name = "input", .summary = "type of x", .choices = inputs},
             [FP8_FORMAT] = {.name = "format", .summary = "type of y", .choices = formats},
             [FP8_SCALE] = {.name = "scale",
                            .summary = "what has a scale of its own: a row, or 128 columns of one",
                            .choices = scales},
             [FP8_DATA] = {.name = "data",
                           .summary = "numbers; or NaN, infinities, zeros and extremes too",
                           .choices = data}},
    .supports = supports,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_run = reference_run,
    .tolerance = {.near_share = 1e-4},
    .match = match,
    .baselines = baselines,
    .data_dims = "input data",
};
ASSAY_REGISTER_OPERATION(operation);
