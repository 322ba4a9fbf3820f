/*
 * quantize_token.c - operation int8_quantize_token: each row (token) by its own
 * scale, found on the fly.
 *
 *   a = max |x| of the row,  scales = a / 127,  y = sat8(rne(x (127 / a)))
 *
 * A row of zeros has codes 0 and scale 0. Outside the definition, and not in the
 * data: rows with a NaN or an infinity, and rows whose a is below 2^-119, where
 * 127 / a is no longer an fp32 number.
 *
 * Bytes per element: 4 read (fp32) or 2 (bf16), 1 written; and 4 written a
 * row. Operations per element: a comparison and a multiplication. Two passes
 * over memory read everything once more: 9 bytes per element in place of 5.
 *
 * Right answers differ only near ties: a rounded 127 / a and a rounded product
 * are within 127 * 2^-23 < 2^-16. One tie is no accident: x = +-a / 2 is
 * q = +-63.5 in every row, in bf16 for many elements, and the side that fp32 falls
 * on depends on how 127 / a was rounded. Both neighbours are right there. No
 * other bf16 quotient can differ: for |q| below 254 * 2^-j, q - (k + 1/2) is a
 * multiple of 2^-j / 510, zero only where 127 / a is a power of two (all is exact
 * then), and the error of fp32 is below 2^-j * 2^-15.
 */
#include "int8.h"

static const char *const inputs[] = {"fp32", "bf16", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t tokens = shape->value[TOKEN_TOKENS];
    int64_t count = tokens * shape->value[TOKEN_HIDDEN];
    out[BUF_X] = (struct assay_buffer){.name = "x",
                                       .role = ASSAY_IN,
                                       .type = int8_input_type(shape->value[TOKEN_INPUT]),
                                       .count = count,
                                       .fill = {.kind = ASSAY_FILL_CUSTOM}};
    out[BUF_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_I8, .count = count};
    out[BUF_SCALES] = (struct assay_buffer){
        .name = "scales", .role = ASSAY_OUT, .type = ASSAY_F32, .count = tokens};
    return 3;
}

/* A 64-bit mix of (seed, index): an odd multiple, then two xor-shift-multiply
 * rounds (the finaliser of splitmix64; Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t mix(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Rows of magnitudes from 2^-4 to 2^5, so that the scale of another row is a
 * wrong answer; about one in 32, none of the first four, is all zeros. */
static float row_amplitude(uint64_t seed, int64_t row)
{
    uint64_t bits = mix(~seed, (uint64_t)row);
    if (row > 3 && bits % 32 == 0) return 0.0f;
    return ldexpf(1.0f + (float)(bits >> 57) * 0x1p-7f, (int)(bits >> 32 & 7) - 4);
}

/* The row's one element as large as its amplitude: a search that leaves it out finds another
 * scale. Of four rows it is the last in the first row, the first in the second, one of the last
 * TAIL (what vectors leave over) in the third, and anywhere in the fourth. */
static int64_t row_peak(uint64_t seed, int64_t row, int64_t hidden)
{
    enum { TAIL = 32 };
    uint64_t bits = mix(seed ^ 0x5065616bu, (uint64_t)row);
    if (row % 4 == 0) return hidden - 1;
    if (row % 4 == 1) return 0;
    if (row % 4 == 2)
        return hidden - 1 - (int64_t)(bits % (uint64_t)(hidden < TAIL ? hidden : TAIL));
    return (int64_t)(bits % (uint64_t)hidden);
}

/* The peak is +-amplitude. The others are uniform below it, by 2^-8, so that none is rounded to it
 * in bf16; one in 256 of them is the tie at half of it, a zero of either sign or a denormal. */
static float row_element(float amplitude, uint64_t bits, bool is_peak)
{
    if (amplitude == 0.0f) return bits & 1 ? -0.0f : 0.0f;
    if (is_peak) return bits & 1 ? amplitude : -amplitude;
    if (bits % 256 == 0) {
        const float hard[] = {0.5f * amplitude, -0.5f * amplitude, 0.0f,      -0.0f,
                              0.5f * amplitude, -0.5f * amplitude, 0x1p-130f, -0x1p-130f};
        return hard[bits >> 8 & 7];
    }
    return amplitude * ((float)(int32_t)(bits >> 32) * (0x1p-31f * (1 - 0x1p-8f)));
}

/* To the nearest bf16, ties to even. The data hold no NaN. */
static uint16_t narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    int64_t tokens = shape->value[TOKEN_TOKENS];
    int64_t hidden = shape->value[TOKEN_HIDDEN];
    bool bf16 = shape->value[TOKEN_INPUT] == INPUT_BF16;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < tokens; row++) {
        float amplitude = row_amplitude(seed, row);
        int64_t peak = row * hidden + row_peak(seed, row, hidden);
        for (int64_t i = row * hidden; i < (row + 1) * hidden; i++) {
            float value = row_element(amplitude, mix(seed, (uint64_t)i), i == peak);
            if (bf16)
                ((uint16_t *)host)[i] = narrow(value);
            else
                ((float *)host)[i] = value;
        }
    }
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double tokens = (double)shape->value[TOKEN_TOKENS];
    double count = tokens * (double)shape->value[TOKEN_HIDDEN];
    return (struct assay_work){
        .read_bytes = count * (double)int8_input_bytes(shape->value[TOKEN_INPUT]),
        .write_bytes = count + 4.0 * tokens,
        .ops = {[ASSAY_FP32] = 2.0 * count},
    };
}

static double absmax(const struct assay_shape *shape, const void *x, int64_t row)
{
    int64_t hidden = shape->value[TOKEN_HIDDEN];
    double most = 0.0;
    for (int64_t i = row * hidden; i < (row + 1) * hidden; i++)
        most = fmax(most, fabs((double)int8_load(x, shape->value[TOKEN_INPUT], i)));
    return most;
}

/* The codes unrounded, for `match`. 127 x is exact in double, so that a tie is one. */
static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    if (buffer == BUF_SCALES) {
        for (int64_t row = begin; row < end; row++)
            expected[row - begin] = absmax(shape, in[BUF_X], row) / 127.0;
        return 0;
    }
    int64_t hidden = shape->value[TOKEN_HIDDEN];
    int64_t row = -1;
    double most = 0.0;
    for (int64_t i = begin; i < end; i++) {
        if (i / hidden != row) {
            row = i / hidden;
            most = absmax(shape, in[BUF_X], row);
        }
        double x = (double)int8_load(in[BUF_X], shape->value[TOKEN_INPUT], i);
        expected[i - begin] = most > 0.0 ? x * 127.0 / most : 0.0;
    }
    return 0;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[TOKEN_HIDDEN];
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    if (buffer == BUF_SCALES)
        return fabs(got - expected) <= 0x1p-23 * expected ? ASSAY_EXACT : ASSAY_WRONG;
    if (got == rint(expected)) return ASSAY_EXACT;
    double off = fabs(got - expected);
    if (off > 0.5 + 0x1p-14) return ASSAY_WRONG;
    return fabs(expected) == 63.5 ? ASSAY_EXACT : ASSAY_NEAR;
}

static const char *const baselines[] = {"copy_r4w1", "device_copy", "host_copy_r4w1", "host_memcpy",
                                        NULL};

static const struct assay_operation operation = {
    .name = "int8_quantize_token",
    .summary = "a = max |x| of a row; scale a / 127, y = sat8(rne(x (127 / a)))",
    .dims = {[TOKEN_TOKENS] = {.name = "tokens",
                               .summary = "rows",
                               .fallback = 1024,
                               .min = 1,
                               .max = (int64_t)1 << 24},
             [TOKEN_HIDDEN] = {.name = "hidden",
                               .summary = "elements of a row",
                               .fallback = 4096,
                               .min = 1,
                               .max = (int64_t)1 << 20},
             [TOKEN_INPUT] = {.name = "input", .summary = "type of x", .choices = inputs}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_run = reference_run,
    .tolerance = {.near_share = 1e-4},
    .match = match,
    .baselines = baselines,
    .data_dims = "input",
};
ASSAY_REGISTER_OPERATION(operation);
