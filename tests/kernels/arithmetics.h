/*
 * arithmetics.h - products of matrices as right and as wrong kernels would compute them, emulated
 * on the host: for the tests of bounds. An element is a sum over two rows of operands in double.
 *
 * Right ones differ in the order of a sum and in how it is rounded; the others have operands of
 * fewer bits, lose a term, or cut off what they should round.
 */
#pragma once

#include "base/rng.h"
#include "tests/kernels/bench.h"

/* --------------------------------------------------------------- rounding -- */

/* The bits of a double, to and fro. */
static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* To `bits` of significand, two or more, of numbers that are normal: nearest, ties to even. Not by
 * frexp and ldexp, in which the tests of bounds would spend half of their time. */
static inline double to_nearest(double value, int bits)
{
    int less = 53 - bits;
    uint64_t whole = bits_of(value);
    return of_bits((whole + (UINT64_C(1) << (less - 1)) - 1 + (whole >> less & 1)) >> less << less);
}

static inline double cut_off(double value, int bits)
{
    return of_bits(bits_of(value) >> (53 - bits) << (53 - bits));
}

static inline double as_it_is(double value)
{
    return value;
}

static inline double tf32_nearest(double value)
{
    return to_nearest(value, 11);
}

static inline double tf32_cut(double value)
{
    return cut_off(value, 11);
}

static inline double bf16_nearest(double value)
{
    return to_nearest(value, 8);
}

static inline double bf16_cut(double value)
{
    return cut_off(value, 8);
}

/* For numbers that are normal in fp16. */
static inline double fp16_nearest(double value)
{
    return to_nearest(value, 11);
}

static inline double fp16_cut(double value)
{
    return cut_off(value, 11);
}

/* ------------------------------------------------------------------- sums -- */

/* The sum of a[i] b[i] in fp32; `bias` may be its first or its last term. */
typedef double sum_order(const double *a, const double *b, int64_t k, double bias);

static inline double sum_forwards(const double *a, const double *b, int64_t k, double bias)
{
    float sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += (float)a[i] * (float)b[i];
    return (double)(sum + (float)bias);
}

static inline double sum_backwards(const double *a, const double *b, int64_t k, double bias)
{
    float sum = 0;
    for (int64_t i = k; i-- > 0;)
        sum = fmaf((float)a[i], (float)b[i], sum);
    return (double)(sum + (float)bias);
}

static inline double sum_bias_first(const double *a, const double *b, int64_t k, double bias)
{
    float sum = (float)bias;
    for (int64_t i = 0; i < k; i++)
        sum = fmaf((float)a[i], (float)b[i], sum);
    return (double)sum;
}

static inline float sum_halves(const double *a, const double *b, int64_t k)
{
    if (k == 1) return (float)a[0] * (float)b[0];
    return sum_halves(a, b, k / 2) + sum_halves(a + k / 2, b + k / 2, k - k / 2);
}

static inline double sum_pairwise(const double *a, const double *b, int64_t k, double bias)
{
    return (double)(sum_halves(a, b, k) + (float)bias);
}

/* The quantum of the last of 24 bits of the largest of the terms. */
static inline double quantum(const double *term, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(term[i]));
    return most == 0 ? 0x1p-24 : 0x1p-23 * cut_off(most, 1);
}

/* A tensor core: blocks of exact products and the sum so far, each cut off `more` bits behind where
 * the largest ends, and their sum cut off to 24 bits (Fasi et al., see kernels/product.h). */
static inline double sum_blocks(const double *a, const double *b, int64_t k, double bias, int block,
                                int more)
{
    double sum = 0, term[17];
    for (int64_t first = 0; first < k; first += block) {
        int count = 0;
        for (int64_t i = first; i < k && i < first + block; i++)
            term[count++] = a[i] * b[i];
        term[count++] = sum;
        double step = quantum(term, count) / (1 << more);
        sum = 0;
        for (int i = 0; i < count; i++)
            sum += trunc(term[i] / step) * step;
        sum = cut_off(sum, 24);
    }
    return (double)((float)sum + (float)bias);
}

/* The first cards: no bit more. */
static inline double sum_blocks_of_4(const double *a, const double *b, int64_t k, double bias)
{
    return sum_blocks(a, b, k, bias, 4, 0);
}

/* What no card does, but would err most: the sum is cut off in every block. */
static inline double sum_worst_blocks(const double *a, const double *b, int64_t k, double bias)
{
    return sum_blocks(a, b, k, bias, 4, 3);
}

static inline double sum_blocks_of_16(const double *a, const double *b, int64_t k, double bias)
{
    return sum_blocks(a, b, k, bias, 16, 2);
}

/* As in split k: parts of 512 on a tensor core, added in fp32. */
static inline double sum_split(const double *a, const double *b, int64_t k, double bias)
{
    float sum = 0;
    for (int64_t first = 0; first < k; first += 512)
        sum += (float)sum_blocks(a + first, b + first, k - first < 512 ? k - first : 512, 0, 8, 1);
    return (double)(sum + (float)bias);
}

static inline double sum_without_last(const double *a, const double *b, int64_t k, double bias)
{
    return sum_blocks(a, b, k - 1, bias, 8, 1);
}

/* ------------------------------------------------------------ arithmetics -- */

struct arithmetic {
    const char *name;
    double (*operand)(double);
    sum_order *sum;
    double (*product)(double); /* between product and bias; NULL: not rounded */
    double (*output)(double);  /* NULL: to the nearest of the output's type */
};

#define RIGHT_FP32                                                                                 \
    {"forwards", as_it_is, sum_forwards, NULL, NULL},                                              \
        {"backwards", as_it_is, sum_backwards, NULL, NULL},                                        \
        {"bias first", as_it_is, sum_bias_first, NULL, NULL},                                      \
    {                                                                                              \
        "pairwise", as_it_is, sum_pairwise, NULL, NULL                                             \
    }
#define RIGHT_TENSOR                                                                               \
    {"blocks of 4", as_it_is, sum_blocks_of_4, NULL, NULL},                                        \
        {"blocks of 16", as_it_is, sum_blocks_of_16, NULL, NULL},                                  \
    {                                                                                              \
        "split k", as_it_is, sum_split, NULL, NULL                                                 \
    }

/* One element of a product, in double, before it is stored. `a` and `b` are changed. */
static inline double emulate(const struct arithmetic *arithmetic, double *a, double *b, int64_t k,
                             double bias)
{
    for (int64_t i = 0; i < k; i++) {
        a[i] = arithmetic->operand(a[i]);
        b[i] = arithmetic->operand(b[i]);
    }
    double sum = arithmetic->product
                     ? (double)(float)(arithmetic->product(arithmetic->sum(a, b, k, 0)) + bias)
                     : arithmetic->sum(a, b, k, bias);
    return arithmetic->output ? arithmetic->output(sum) : sum;
}

/* --------------------------------------------------------------- verdicts -- */

/* The largest error of an output, as a share of its element's bound. */
static inline double worst_share(struct bench *bench, int buffer)
{
    double worst = 0;
    if (!bench->expects) bench_expect(bench);
    for (int i = 0; i < bench->verifier.chunk_count; i++) {
        const struct chunk *chunk = &bench->verifier.chunks[i];
        if (chunk->buffer != buffer) continue;
        for (int64_t at = 0; at < chunk->end - chunk->begin; at++) {
            double got = assay_load(bench->buffers.spec[buffer].type, bench->buffers.data[buffer],
                                    chunk->begin + at);
            double error = fabs(got - bench->verifier.expected[chunk->at + at]);
            if (error > 0) worst = fmax(worst, error / bench->verifier.bound[chunk->at + at]);
        }
    }
    return worst;
}

/* The largest error of a row's signed sum, as a share of its bound (Freivalds' check); NaN where
 * the output has one. */
static inline double worst_row_share(const struct bench *bench, int buffer)
{
    const struct assay_operation *operation = bench->shape.operation;
    const struct assay_buffer *spec = &bench->buffers.spec[buffer];
    int64_t columns = operation->product_columns(&bench->shape, buffer);
    int64_t rows = spec->count / columns;
    double *sign = malloc((size_t)columns * sizeof *sign), worst = 0;
    double *expected = malloc((size_t)rows * 2 * sizeof *expected), *bound = expected + rows;
    assert_non_null(sign);
    assert_non_null(expected);
    for (int64_t j = 0; j < columns; j++)
        sign[j] = rng_mix(bench_seed, (uint64_t)j) & 1 ? 1 : -1;
    assert_int_equal(
        operation->product_check(&bench->shape, bench->in, buffer, sign, expected, bound), 0);
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++)
            sum += sign[j] * assay_load(spec->type, bench->buffers.data[buffer], row * columns + j);
        double error = fabs(sum - expected[row]);
        double share = error == 0 ? 0 : error / bound[row];
        if (!(share <= worst)) worst = share;
        if (isnan(share)) break;
    }
    free(expected);
    free(sign);
    return worst;
}

/* How the elements of an output are emulated. */
struct emulated {
    const char *operation, *what; /* what: of the shape, for people */
    int buffer;
    int64_t k; /* terms */
    /* Write the operands of element `at`; returns its bias. */
    double (*operands)(const struct bench *bench, int64_t at, double *left, double *right);
};

static inline void compute_as(struct bench *bench, const struct emulated *emulated,
                              const struct arithmetic *arithmetic)
{
    const struct assay_buffer *spec = &bench->buffers.spec[emulated->buffer];
    size_t k = (size_t)emulated->k;
#pragma omp parallel
    {
        double *left = malloc(k * 2 * sizeof *left), *right = left + k;
#pragma omp for
        for (int64_t at = 0; at < spec->count; at++) {
            double bias = emulated->operands(bench, at, left, right);
            assay_store(spec->type, bench->buffers.data[emulated->buffer], at,
                        emulate(arithmetic, left, right, emulated->k, bias));
        }
        free(left);
    }
}

/* SEEDS=N tries N seeds. */
static inline int seeds_of(int fallback)
{
    const char *wanted = getenv("SEEDS");
    return wanted ? atoi(wanted) : fallback;
}

/* The number of seeds with which the check refuses an output that is computed so, by its elements
 * or, if asked, by its rows. MARGINS=1 prints the largest errors as shares of their bounds, by
 * element and by row, and the largest share of NEAR. */
static inline int refused(struct assay_shape shape, const struct emulated *emulated,
                          const struct arithmetic *arithmetic, int seeds, bool by_row)
{
    int found = 0;
    double element = 0, row = 0, near = 0;
    for (bench_seed = 1; bench_seed <= (uint64_t)seeds; bench_seed++) {
        struct bench bench;
        bench_init(&bench, shape);
        compute_as(&bench, emulated, arithmetic);
        double share =
            shape.operation->product_check ? worst_row_share(&bench, emulated->buffer) : 0;
        struct check_result result = bench_judge(&bench);
        element = fmax(element, worst_share(&bench, emulated->buffer));
        row = fmax(row, share);
        near = fmax(near, result.near_share);
        found += result.reason[0] != '\0' || (by_row && !(share <= 1));
        bench_release(&bench);
    }
    bench_seed = 1;
    if (getenv("MARGINS"))
        printf("%-18s %-12s k=%-6d %-20s %9.3g %9.3g %9.3g\n", emulated->operation, emulated->what,
               (int)emulated->k, arithmetic->name, element, row, near);
    return found;
}

static inline void assert_passes(struct assay_shape shape, const struct emulated *emulated,
                                 const struct arithmetic *arithmetic, int seeds)
{
    int found = refused(shape, emulated, arithmetic, seeds, true);
    if (found)
        fail_msg("%s %s, k = %d, %s: refused with %d of %d seeds", emulated->operation,
                 emulated->what, (int)emulated->k, arithmetic->name, found, seeds);
}

static inline void assert_refused(struct assay_shape shape, const struct emulated *emulated,
                                  const struct arithmetic *arithmetic, int seeds)
{
    int found = refused(shape, emulated, arithmetic, seeds, false);
    if (found < seeds)
        fail_msg("%s %s, k = %d, %s: refused with %d of %d seeds only", emulated->operation,
                 emulated->what, (int)emulated->k, arithmetic->name, found, seeds);
}
