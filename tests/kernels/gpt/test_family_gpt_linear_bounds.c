/*
 * test_family_gpt_linear_bounds.c - the bounds of `linear` pass every order of a sum and nothing
 * that has fewer bits, fewer terms or another rounding.
 */
#include "tests/kernels/arithmetics.h"
#include "kernels/gpt/gpt.h"

static double operands(const struct bench *bench, int64_t at, double *left, double *right)
{
    const int64_t *value = bench->shape.value;
    int64_t n = value[LINEAR_N], k = value[LINEAR_K], precision = value[LINEAR_PRECISION];
    for (int64_t i = 0; i < k; i++) {
        left[i] = (double)gpt_load(bench->in[LINEAR_X], precision, at / n * k + i);
        right[i] = (double)gpt_load(bench->in[LINEAR_W], precision, at % n * k + i);
    }
    return bench->in[LINEAR_B] ? (double)gpt_load(bench->in[LINEAR_B], precision, at % n) : 0;
}

static struct emulated linear_of(int64_t k, int64_t precision)
{
    return (struct emulated){"linear", gpt_types[precision], LINEAR_Y, k, operands};
}

/* The first 4 for fp32, the first 7 for tf32, and a last one for each type of 16 bits. */
static const struct arithmetic right[] = {RIGHT_FP32, RIGHT_TENSOR};
static const struct arithmetic rounded[] = {
    [GPT_BF16] = {"product rounded", as_it_is, sum_blocks_of_16, bf16_nearest, NULL},
    [GPT_FP16] = {"product rounded", as_it_is, sum_blocks_of_16, fp16_nearest, NULL}};

static void check_right(int64_t m, int64_t n, int64_t k, int64_t precision, int64_t bias, int seeds)
{
    struct assay_shape shape = SHAPE("linear", m, n, k, precision, LINEAR_DIRECT, bias);
    struct emulated linear = linear_of(k, precision);
    for (int i = 0; i < (precision == GPT_FP32 ? 4 : 7); i++)
        assert_passes(shape, &linear, &right[i], seeds);
    if (gpt_bytes(precision) == 2) assert_passes(shape, &linear, &rounded[precision], seeds);
}

TEST(every_order_of_a_sum_passes)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
        for (int64_t bias = LINEAR_NO_BIAS; bias <= LINEAR_FUSED; bias += 2) {
            check_right(7, 9, 1, precision, bias, seeds_of(40));
            check_right(4, 8, 48, precision, bias, seeds_of(40));
            check_right(32, 32, 768, precision, bias, seeds_of(4));
            check_right(4, 8, 8191, precision, bias, seeds_of(precision == GPT_FP16 ? 1 : 5));
            check_right(2, 8, 16384, precision, bias, seeds_of(precision == GPT_FP16 ? 1 : 5));
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
    {GPT_BF16,
     768,
     LINEAR_SEPARATE,
     {"product cut off", as_it_is, sum_blocks_of_16, bf16_cut, NULL}},
    {GPT_FP16, 768, LINEAR_FUSED, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
    {GPT_FP16,
     768,
     LINEAR_FUSED,
     {"stored as bf16", as_it_is, sum_blocks_of_16, NULL, bf16_nearest}},
    {GPT_FP16, 8191, LINEAR_FUSED, {"last k dropped", as_it_is, sum_without_last, NULL, NULL}},
    {GPT_FP16, 48, LINEAR_NO_BIAS, {"cut off", as_it_is, sum_blocks_of_16, NULL, fp16_cut}},
    {GPT_FP16, 768, LINEAR_NO_BIAS, {"cut off", as_it_is, sum_blocks_of_16, NULL, fp16_cut}},
    {GPT_FP16, 768, LINEAR_FUSED, {"cut off", as_it_is, sum_blocks_of_16, NULL, fp16_cut}},
};

TEST(fewer_bits_fewer_terms_and_another_rounding_are_wrong)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const struct wrong *wrong = &wrongs[i];
        int64_t n = wrong->k > 4096 ? 24 : 48;
        struct emulated linear = linear_of(wrong->k, wrong->precision);
        assert_refused(
            SHAPE("linear", n, n, wrong->k, wrong->precision, LINEAR_DIRECT, wrong->bias), &linear,
            &wrong->arithmetic, seeds_of(3));
    }
}

/* Freivalds' check of an output with a spoilt part. */
static double row_share_after(int64_t precision, int first, int count, double spoilt)
{
    static const struct arithmetic right = {"blocks of 16", as_it_is, sum_blocks_of_16, NULL, NULL};
    struct emulated linear = linear_of(300, precision);
    struct bench bench;
    bench_init(&bench, SHAPE("linear", 3, 512, 300, precision, LINEAR_DIRECT, LINEAR_FUSED));
    compute_as(&bench, &linear, &right);
    for (int j = 0; j < count; j++)
        assay_store(gpt_type(precision), bench.buffers.data[LINEAR_Y], 512 + first + j, spoilt);
    double share = worst_row_share(&bench, LINEAR_Y);
    bench_release(&bench);
    return share;
}

TEST(a_spoilt_part_of_a_row_is_found_without_the_elements)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
        assert_true(row_share_after(precision, 0, 0, 0) <= 1);
        assert_true(row_share_after(precision, 256, 128, 0) > 1);
        assert_false(row_share_after(precision, 17, 1, NAN) <= 1);
        assert_true(gpt_bytes(precision) == 2 || row_share_after(precision, 17, 1, 0) > 1);
    }
}
