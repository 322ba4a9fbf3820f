/*
 * test_family_gpt_linear_bounds.c - the bounds of `linear` pass every order of a sum and nothing
 * that has fewer bits, fewer terms or another rounding. SEEDS=N tries N seeds; MARGINS=1 prints
 * the largest error as a share of its bound, by element and by row.
 */
#include "tests/kernels/arithmetics.h"
#include "base/rng.h"
#include "kernels/gpt/gpt.h"

/* Compute y as an arithmetic does. */
static void compute(struct bench *bench, const struct arithmetic *arithmetic)
{
    const int64_t *value = bench->shape.value;
    int64_t m = value[LINEAR_M], n = value[LINEAR_N], k = value[LINEAR_K];
    int64_t precision = value[LINEAR_PRECISION];
    const void *x = bench->in[LINEAR_X], *w = bench->in[LINEAR_W], *b = bench->in[LINEAR_B];
    enum assay_type type = gpt_type(precision);
#pragma omp parallel
    {
        double *left = malloc((size_t)k * 2 * sizeof *left), *right = left + k;
#pragma omp for
        for (int64_t at = 0; at < m * n; at++) {
            for (int64_t i = 0; i < k; i++) {
                left[i] = (double)gpt_load(x, precision, at / n * k + i);
                right[i] = (double)gpt_load(w, precision, at % n * k + i);
            }
            double bias = b ? (double)gpt_load(b, precision, at % n) : 0;
            assay_store(type, bench->buffers.data[LINEAR_Y], at,
                        emulate(arithmetic, left, right, k, bias));
        }
        free(left);
    }
}

/* What the check says of an arithmetic: the number of seeds of which it finds a wrong one. */
static int refused(const struct arithmetic *arithmetic, struct assay_shape shape, int seeds,
                   bool by_row)
{
    int found = 0;
    double element = 0, row = 0, near = 0;
    for (bench_seed = 1; bench_seed <= (uint64_t)seeds; bench_seed++) {
        struct bench bench;
        bench_init(&bench, shape);
        compute(&bench, arithmetic);
        double share = worst_row_share(&bench, LINEAR_Y);
        struct check_result result = bench_judge(&bench);
        element = fmax(element, worst_share(&bench, LINEAR_Y));
        row = fmax(row, share);
        near = fmax(near, result.near_share);
        found += result.reason[0] != '\0' || (by_row && !(share <= 1));
        bench_release(&bench);
    }
    char what[96];
    snprintf(what, sizeof what, "linear %s k=%lld bias=%lld", gpt_precisions[shape.value[3]],
             (long long)shape.value[LINEAR_K], (long long)shape.value[LINEAR_BIAS]);
    show_margin(what, arithmetic->name, element, row, near);
    return found;
}

static int seeds_of(int fallback)
{
    const char *wanted = getenv("SEEDS");
    return wanted ? atoi(wanted) : fallback;
}

/* The first 4 for fp32, the first 7 for tf32. */
static const struct arithmetic right[] = {
    RIGHT_FP32, RIGHT_TENSOR, {"product rounded", as_it_is, sum_blocks_of_16, bf16_nearest, NULL}};

static void check_right(int64_t m, int64_t n, int64_t k, int64_t precision, int64_t bias, int seeds)
{
    static const int counts[] = {[GPT_FP32] = 4, [GPT_TF32] = 7, [GPT_BF16] = 8};
    for (int i = 0; i < counts[precision]; i++) {
        struct assay_shape shape = SHAPE("linear", m, n, k, precision, LINEAR_DIRECT, bias);
        int found = refused(&right[i], shape, seeds, true);
        if (found) fail_msg("%s, k = %d: %d refused", right[i].name, (int)k, found);
    }
}

static void every_order_of_a_sum_passes(void **state)
{
    (void)state;
    for (int64_t precision = GPT_FP32; precision <= GPT_BF16; precision++)
        for (int64_t bias = LINEAR_NO_BIAS; bias <= LINEAR_FUSED; bias += 2) {
            check_right(7, 9, 1, precision, bias, seeds_of(40));
            check_right(4, 8, 48, precision, bias, seeds_of(40));
            check_right(32, 64, 768, precision, bias, seeds_of(4));
            check_right(4, 8, 8191, precision, bias, seeds_of(5));
            check_right(2, 8, 16384, precision, bias, seeds_of(5));
        }
}

struct wrong {
    int64_t precision, k, bias;
    struct arithmetic arithmetic;
};

static const struct wrong wrongs[] = {
    {GPT_FP32, 128, LINEAR_FUSED, {"tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL}},
    {GPT_FP32, 2048, LINEAR_FUSED, {"tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL}},
    {GPT_FP32, 16384, LINEAR_FUSED, {"tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL}},
    {GPT_FP32, 8192, LINEAR_NO_BIAS, {"tf32 cut off", tf32_cut, sum_blocks_of_4, NULL, NULL}},
    {GPT_FP32, 8192, LINEAR_FUSED, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
    {GPT_TF32, 768, LINEAR_FUSED, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
    {GPT_TF32, 4096, LINEAR_FUSED, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
    {GPT_TF32, 16384, LINEAR_FUSED, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
    {GPT_FP32, 8191, LINEAR_FUSED, {"last k dropped", as_it_is, sum_without_last, NULL, NULL}},
    {GPT_TF32, 8191, LINEAR_FUSED, {"last k dropped", as_it_is, sum_without_last, NULL, NULL}},
    {GPT_BF16, 8191, LINEAR_FUSED, {"last k dropped", as_it_is, sum_without_last, NULL, NULL}},
    {GPT_BF16, 48, LINEAR_NO_BIAS, {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}},
    {GPT_BF16, 48, LINEAR_FUSED, {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}},
    {GPT_BF16, 768, LINEAR_NO_BIAS, {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}},
    {GPT_BF16, 768, LINEAR_FUSED, {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}},
    {GPT_BF16, 8192, LINEAR_FUSED, {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}},
    {GPT_BF16, 768, LINEAR_SEPARATE, {"product cut off", as_it_is, sum_blocks_of_16, bf16_cut, NULL}},
};

static void fewer_bits_fewer_terms_and_another_rounding_are_wrong(void **state)
{
    (void)state;
    int seeds = seeds_of(3);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const struct wrong *wrong = &wrongs[i];
        int64_t n = wrong->k > 4096 ? 24 : 48;
        struct assay_shape shape =
            SHAPE("linear", n, n, wrong->k, wrong->precision, LINEAR_DIRECT, wrong->bias);
        int found = refused(&wrong->arithmetic, shape, seeds, false);
        if (found < seeds)
            fail_msg("%s as %s, k = %d: found with %d of %d seeds", wrong->arithmetic.name,
                     gpt_precisions[wrong->precision], (int)wrong->k, found, seeds);
    }
}

/* Freivalds' check of an output with a spoilt part. */
static double row_share_after(int64_t precision, int first, int count, double spoilt)
{
    static const struct arithmetic right = {"blocks of 16", as_it_is, sum_blocks_of_16, NULL, NULL};
    struct bench bench;
    bench_seed = 1;
    bench_init(&bench, SHAPE("linear", 3, 512, 300, precision, LINEAR_DIRECT, LINEAR_FUSED));
    compute(&bench, &right);
    for (int j = 0; j < count; j++)
        assay_store(gpt_type(precision), bench.buffers.data[LINEAR_Y], 512 + first + j, spoilt);
    double share = worst_row_share(&bench, LINEAR_Y);
    bench_release(&bench);
    return share;
}

static void a_spoilt_part_of_a_row_is_found_without_the_elements(void **state)
{
    (void)state;
    for (int64_t precision = GPT_FP32; precision <= GPT_BF16; precision++) {
        assert_true(row_share_after(precision, 0, 0, 0) <= 1);
        assert_true(row_share_after(precision, 256, 128, 0) > 1);
        assert_false(row_share_after(precision, 17, 1, NAN) <= 1);
        assert_true(precision == GPT_BF16 || row_share_after(precision, 17, 1, 0) > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_a_sum_passes),
        cmocka_unit_test(fewer_bits_fewer_terms_and_another_rounding_are_wrong),
        cmocka_unit_test(a_spoilt_part_of_a_row_is_found_without_the_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
