/*
 * test_family_ceilings_gemm.c - products of matrices: the host's against their bound, and
 * what the check of each type lets through and catches.
 */
#include "tests/kernels/arithmetics.h"
#include "case/shape.h"
#include "kernels/ceilings/gemm.h"

/* A product's shape from its text, but for the type. */
static struct assay_shape gemm_shape(const char *sizes, const char *type)
{
    char text[64];
    struct assay_shape shape;
    snprintf(text, sizeof text, "%s type=%s", sizes, type);
    assert_int_equal(shape_parse(registry_operation("gemm"), text, &shape), 0);
    return shape;
}

TEST(host_gemm_is_within_its_bound_at_prime_sizes)
{
    static const char *const shapes[] = {
        "m=1 n=1 k=1",   "m=1 n=7 k=1031",   "m=67 n=3 k=17",
        "m=4 n=2 k=512", "m=65 n=127 k=131", "m=130 n=66 k=1025",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        bench_all(gemm_shape(shapes[i], "fp32"), "blocked");
        bench_all(gemm_shape(shapes[i], "int8"), "blocked");
    }
}

/* Write the exact product, rounded to the output's type, as the result. */
static void store_reference(struct bench *bench)
{
    const void *in[ASSAY_MAX_BUFFERS] = {bench->buffers.data[GEMM_A], bench->buffers.data[GEMM_B],
                                         NULL};
    for (int64_t at = 0; at < bench->buffers.spec[GEMM_C].count; at++) {
        double expected, bound;
        assert_int_equal(bench->shape.operation->reference(&bench->shape, in, GEMM_C, at, at + 1,
                                                           &expected, &bound),
                         0);
        assay_store(bench->buffers.spec[GEMM_C].type, bench->buffers.data[GEMM_C], at, expected);
    }
}

static const char *const gemm_types[] = {"fp32", "tf32", "bf16", "fp16", "int8"};

TEST(a_rounded_exact_product_is_right_in_every_type)
{
    for (size_t type = 0; type < 5; type++) {
        struct bench bench;
        bench_init(&bench, gemm_shape("m=19 n=23 k=101", gemm_types[type]));
        store_reference(&bench);
        assert_int_equal(bench_judge(&bench).wrong, 0);
        bench_release(&bench);
    }
}

TEST(one_element_a_percent_off_is_caught_in_every_type)
{
    for (size_t type = 0; type < 5; type++) {
        struct bench bench;
        bench_init(&bench, gemm_shape("m=19 n=23 k=101", gemm_types[type]));
        store_reference(&bench);
        enum assay_type out = bench.buffers.spec[GEMM_C].type;
        double value = assay_load(out, bench.buffers.data[GEMM_C], 211);
        assert_true(fabs(value) > 0.1);
        double step = fmax(0.01 * fabs(value), type == GEMM_INT8 ? 1 : 0);
        assay_store(out, bench.buffers.data[GEMM_C], 211, value + copysign(step, value));
        assert_int_equal(bench_judge(&bench).wrong, 1);
        bench_release(&bench);
    }
}

TEST(a_missing_term_of_the_sum_is_caught_in_every_type)
{
    for (size_t type = 0; type < 5; type++) {
        struct bench bench;
        bench_init(&bench, gemm_shape("m=5 n=5 k=64", gemm_types[type]));
        enum assay_type in = bench.buffers.spec[GEMM_A].type;
        double kept = assay_load(in, bench.buffers.data[GEMM_A], 63);
        assay_store(in, bench.buffers.data[GEMM_A], 63, 0);
        store_reference(&bench);
        assay_store(in, bench.buffers.data[GEMM_A], 63, kept);
        assert_true(bench_judge(&bench).wrong >= 4);
        bench_release(&bench);
    }
}

static double operands(const struct bench *bench, int64_t at, double *left, double *right)
{
    int64_t n = bench->shape.value[GEMM_N], k = bench->shape.value[GEMM_K];
    enum assay_type type = gemm_elements(&bench->shape).in;
    for (int64_t i = 0; i < k; i++) {
        left[i] = assay_load(type, bench->in[GEMM_A], at / n * k + i);
        right[i] = assay_load(type, bench->in[GEMM_B], at % n * k + i);
    }
    return 0;
}

static struct emulated emulated_gemm(int type, int k)
{
    return (struct emulated){"gemm", gemm_types[type], GEMM_C, k, operands};
}

TEST(every_order_of_a_sum_passes)
{
    static const struct arithmetic right[] = {RIGHT_FP32, RIGHT_TENSOR};
    for (int type = GEMM_FP32; type <= GEMM_FP16; type++)
        for (int i = 0; i < (type == GEMM_FP32 ? 4 : 7); i++) {
            struct emulated small = emulated_gemm(type, 300), large = emulated_gemm(type, 8192);
            assert_passes(SHAPE("gemm", 9, 11, 300, type), &small, &right[i], seeds_of(40));
            assert_passes(SHAPE("gemm", 3, 5, 8192, type), &large, &right[i], seeds_of(3));
        }
}

TEST(fewer_bits_fewer_terms_and_another_rounding_are_wrong)
{
    static const struct {
        int type;
        struct arithmetic arithmetic;
    } wrong[] = {
        {GEMM_FP32, {"tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL}},
        {GEMM_TF32, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
        {GEMM_FP16, {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL}},
        {GEMM_TF32, {"last term dropped", as_it_is, sum_without_last, NULL, NULL}},
        {GEMM_BF16, {"last term dropped", as_it_is, sum_without_last, NULL, NULL}},
        {GEMM_FP16, {"last term dropped", as_it_is, sum_without_last, NULL, NULL}},
        {GEMM_BF16, {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}},
        {GEMM_FP16, {"cut off", as_it_is, sum_blocks_of_16, NULL, fp16_cut}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int k = 512; k <= 8192; k *= 16) {
            struct emulated gemm = emulated_gemm(wrong[i].type, k);
            assert_refused(SHAPE("gemm", 24, 24, k, wrong[i].type), &gemm, &wrong[i].arithmetic,
                           seeds_of(2));
        }
}

TEST(row_sums_find_a_spoilt_tile_in_every_type)
{
    for (size_t type = 0; type < 5; type++) {
        struct bench bench;
        bench_init(&bench, gemm_shape("m=7 n=256 k=101", gemm_types[type]));
        store_reference(&bench);
        assert_true(worst_row_share(&bench, GEMM_C) <= 0.5);
        for (int j = 64; j < 128; j++)
            assay_store(bench.buffers.spec[GEMM_C].type, bench.buffers.data[GEMM_C], 256 + j, 0);
        assert_true(worst_row_share(&bench, GEMM_C) > 1);
        bench_release(&bench);
    }
}

TEST(tf32_inputs_need_no_rounding)
{
    struct bench bench;
    bench_init(&bench, gemm_shape("m=64 n=64 k=64", "tf32"));
    for (int64_t i = 0; i < bench.buffers.spec[GEMM_A].count; i++) {
        uint32_t bits;
        memcpy(&bits, (char *)bench.buffers.data[GEMM_A] + 4 * i, 4);
        assert_int_equal(bits & 0x1fff, 0); /* the 13 bits that tf32 drops */
    }
    bench_release(&bench);
}

TEST(only_a_large_gemm_measures_a_ceiling)
{
    const struct assay_operation *gemm = registry_operation("gemm");
    struct assay_shape shape = shape_default(gemm);
    shape.value[GEMM_TYPE] = GEMM_BF16;
    assert_string_equal(gemm->ceiling(&shape, ASSAY_COLD), "bf16");
    shape.value[GEMM_K] = 2047;
    assert_null(gemm->ceiling(&shape, ASSAY_COLD));
}

TEST(int8_sums_that_could_overflow_are_refused)
{
    const struct assay_operation *gemm = registry_operation("gemm");
    struct assay_shape shape = shape_default(gemm);
    shape.value[GEMM_TYPE] = GEMM_INT8;
    shape.value[GEMM_K] = 131072;
    assert_non_null(gemm->supports(&shape));
    shape.value[GEMM_K] = 131071;
    assert_null(gemm->supports(&shape));
}
