/*
 * quantize.c - operation int8_quantize: y = sat8(rne(x / s + z)).
 *
 * Bytes per element: 4 read (fp32) or 2 (bf16), 1 written. Operations: one
 * division or multiplication and one addition. At 4.8 TB/s that is 5 bytes a
 * picosecond against two operations: bound by memory on every device there is.
 *
 * Defined answers: infinities saturate, NaN gives 0, a tie goes to the even code.
 *
 * How far may a right answer be off? Where codes change, |x / s| < 256 (the
 * codes' range and z from -128 to 3). __fdividef is good to 2 units in the last
 * place: 2 * 2^-16 = 2^-15 there, then an addition rounded by 2^-17 at most. A
 * rounded reciprocal and a rounded product: 256 * 2^-23 = 2^-15. So every fp32 formula
 * stays within 2^-14 of the quotient, and two of them can differ only where that
 * lies within 2^-14 of a half; over the data here, on about 5e-6 of the elements.
 * One tie is exact with s = 0.0371, whose 24 bits end with a 1: x = -s / 2 for z = 3 (s / 2 has the
 * even code above it by every rule), x = s / 2 for z = -128. All these formulas have 2.5 and -127.5
 * there, to the bit: they err by 2^-23 at most before the sum is rounded to a multiple of 2^-22. So
 * the code is 2, or -128, and nothing else. No bf16 number is at a tie, whichever way a kernel
 * rounds them.
 * For s = 2^-5 all products are exact, and one rounding is left, that of the sum with z:
 * 62.49999619 + 3 is 65.5 in fp32 and its code 66, where the exact sum has 65. So the code of
 * the exact sum is right, that of the sum rounded to fp32 too, and nothing else.
 */
#include <float.h>

#include "int8.h"

static const char *const inputs[] = {"fp32", "bf16", NULL};
static const char *const scales[] = {"odd", "pow2", "odd_minus128", "pow2_minus5", NULL};

/* Ends, signs and what is no number: the same answer by every formula. */
#define HARD_EVERYWHERE                                                                            \
    INFINITY, -INFINITY, NAN, -NAN, 0.0f, -0.0f, FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MIN, -FLT_MIN,   \
        FLT_MAX, -FLT_MAX, 1e9f, -1e9f, 1e30f, -1e30f

/* x with x / s + z at `q`. */
#define AT(q, s, z) ((float)(((q) - (double)(z)) * (double)(s)))

/* Just inside and outside the range and well beside ties, but for the exact ones: others would be
 * decided by the formula's last bit here, on too many elements. */
#define HARD_ODD(z)                                                                                \
    {                                                                                              \
        HARD_EVERYWHERE, -0.5f * INT8_SCALE_ODD, 0.5f * INT8_SCALE_ODD,                            \
            AT(126.6, INT8_SCALE_ODD, z), AT(127.4, INT8_SCALE_ODD, z),                            \
            AT(127.6, INT8_SCALE_ODD, z), AT(-127.4, INT8_SCALE_ODD, z),                           \
            AT(-128.4, INT8_SCALE_ODD, z), AT(-128.6, INT8_SCALE_ODD, z),                          \
            AT(0.499, INT8_SCALE_ODD, z), AT(0.501, INT8_SCALE_ODD, z),                            \
            AT(-0.499, INT8_SCALE_ODD, z), AT(-0.501, INT8_SCALE_ODD, z),                          \
            AT(64.499, INT8_SCALE_ODD, z), AT(65.501, INT8_SCALE_ODD, z)                           \
    }

/* Exact ties above even and odd codes, of both signs and at both ends: exact in
 * fp32 (most in bf16 too) and by every formula. */
#define HARD_POW2(z)                                                                               \
    {                                                                                              \
        HARD_EVERYWHERE, AT(0.5, INT8_SCALE_POW2, z), AT(1.5, INT8_SCALE_POW2, z),                 \
            AT(2.5, INT8_SCALE_POW2, z), AT(3.5, INT8_SCALE_POW2, z),                              \
            AT(-0.5, INT8_SCALE_POW2, z), AT(-1.5, INT8_SCALE_POW2, z),                            \
            AT(-2.5, INT8_SCALE_POW2, z), AT(63.5, INT8_SCALE_POW2, z),                            \
            AT(64.5, INT8_SCALE_POW2, z), AT(-64.5, INT8_SCALE_POW2, z),                           \
            AT(126.5, INT8_SCALE_POW2, z), AT(127.5, INT8_SCALE_POW2, z),                          \
            AT(-127.5, INT8_SCALE_POW2, z), AT(-128.5, INT8_SCALE_POW2, z)                         \
    }

enum { HARD = 30 };
static const float hard[SCALES][HARD] = {HARD_ODD(3), HARD_POW2(3), HARD_ODD(-128), HARD_POW2(-5)};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    double scale = int8_scale(shape), zero = int8_zero(shape);
    out[BUF_X] = (struct assay_buffer){
        .name = "x",
        .role = ASSAY_IN,
        .type = int8_input_type(shape->value[DIM_INPUT]),
        .count = shape->value[DIM_N],
        /* Every code one time in 268, six codes' width of saturation at each end. */
        .fill = {.kind = ASSAY_FILL_UNIFORM,
                 .a = AT(-134.0, scale, zero),
                 .b = AT(134.0, scale, zero),
                 .hard = hard[shape->value[DIM_SCALE]],
                 .hard_count = HARD,
                 .hard_every = 16,
                 .hard_until = 4096},
    };
    out[BUF_Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_I8, .count = shape->value[DIM_N]};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[DIM_N];
    return (struct assay_work){
        .read_bytes = n * (double)int8_input_bytes(shape->value[DIM_INPUT]),
        .write_bytes = n,
        .ops = {[ASSAY_FP32] = 2.0 * n},
    };
}

/* x / s + z in double, clamped to the codes but not rounded: `match` needs to
 * know how near a tie it is. */
static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t input = shape->value[DIM_INPUT];
    double scale = int8_scale(shape), zero = int8_zero(shape);
    for (int64_t i = begin; i < end; i++) {
        double q = (double)int8_load(in[BUF_X], input, i) / scale + zero;
        expected[i - begin] = q != q ? 0.0 : fmin(fmax(q, -128.0), 127.0);
    }
    return 0;
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    if (got == rint(expected)) return ASSAY_EXACT;
    if (int8_is_pow2(shape))
        return got == (double)rintf((float)expected) ? ASSAY_EXACT : ASSAY_WRONG;
    if (fabs(expected - rint(expected)) == 0.5) return ASSAY_WRONG; /* an exact tie */
    return fabs(got - expected) <= 0.5 + 0x1p-14 ? ASSAY_NEAR : ASSAY_WRONG;
}

static const char *const baselines[] = {"copy_r4w1", "device_copy", "host_copy_r4w1", "host_memcpy",
                                        NULL};

static const struct assay_operation operation = {
    .name = "int8_quantize",
    .summary = "y = sat8(rne(x / s + z)): one scale and zero point for the tensor",
    .dims = {[DIM_N] = {.name = "n",
                        .summary = "elements",
                        .fallback = 1000000,
                        .min = 1,
                        .max = (int64_t)1 << 36},
             [DIM_INPUT] = {.name = "input", .summary = "type of x", .choices = inputs},
             [DIM_SCALE] = {.name = "scale",
                            .summary = "s = 0.0371 (odd) or 2^-5 (pow2); z = 3, or as named",
                            .choices = scales}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .tolerance = {.near_share = 1e-4},
    .match = match,
    .baselines = baselines,
    .data_dims = "input scale",
};
ASSAY_REGISTER_OPERATION(operation);
