/*
 * test_family_int8.c - int8_quantize on the host: formulas, data and host variants
 * against the reference, at the sizes and values where they break.
 */
#include "tests/kernels/bench.h"
#include "kernels/int8/int8.h"

typedef int model_function(const struct assay_shape *shape, const void *const in[], int buffer,
                           int64_t begin, int64_t end, void *out);

/* The family's own variants of both operations. */
static const char own[] = "host_scalar host_copy_r4w1 host_memcpy host_omp";

/* One code by a model, from one value. */
static int code_of(model_function *model, float x, int64_t scale)
{
    struct assay_shape shape = SHAPE("int8_quantize", 1, INPUT_FP32, scale);
    const void *const in[] = {&x};
    int8_t code;
    assert_int_equal(model(&shape, in, BUF_Y, 0, 1, &code), 0);
    return code;
}

static int zero_of(int64_t scale)
{
    struct assay_shape shape = SHAPE("int8_quantize", 1, INPUT_FP32, scale);
    return (int)int8_zero(&shape);
}

static model_function *const formulas[] = {int8_model_div, int8_model_rcp_muladd,
                                           int8_model_rcp_fma};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

TEST(every_host_variant_is_right_at_tiny_odd_and_prime_sizes)
{
    const int64_t sizes[] = {1,  2,  3,   5,   7,    8,    15,   16,    17,
                             31, 33, 127, 255, 1021, 4099, 9973, 65537, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t input = INPUT_FP32; input <= INPUT_BF16; input++)
            for (int64_t scale = SCALE_ODD; scale < SCALES; scale++) {
                int64_t near = bench_all(SHAPE("int8_quantize", sizes[i], input, scale), own);
                assert_true(near <= 1 || (double)near <= 1e-4 * (double)sizes[i]);
            }
}

/* The family's own, of either operation: a model, or a check of what is in no buffer, which
 * poisons it again, so that without a launch in between it fails. */
TEST(own_variants_are_held_to_the_bit)
{
    static const char *const names[] = {"host_scalar", "host_omp", "host_copy_r4w1", "host_memcpy"};
    const struct assay_shape shapes[] = {SHAPE("int8_quantize", 1021),
                                         SHAPE("int8_quantize_token", 33, 31)};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 4; i++) {
            struct bench bench;
            bench_init(&bench, shapes[s]);
            const struct assay_variant *variant =
                bench_variant(shapes[s].operation->name, names[i]);
            assert_true(variant->model || variant->check);
            if (variant->check) {
                struct assay_call call = bench_call(&bench);
                assert_int_equal(variant->setup(&call), 0);
                assert_int_equal(variant->launch(&call), 0);
                assert_int_equal(variant->check(&call), 0);
                assert_int_equal(variant->check(&call), -1);
                variant->teardown(&call);
            }
            bench_release(&bench);
        }
}

TEST(every_formula_is_near_on_a_small_share_and_the_data_hit_every_code)
{
    const int64_t n = 2000003;
    for (int64_t input = INPUT_FP32; input <= INPUT_BF16; input++) {
        for (int64_t scale = SCALE_ODD; scale < SCALES; scale++) {
            struct bench bench;
            bench_init(&bench, SHAPE("int8_quantize", n, input, scale));
            for (int f = 0; f < FORMULAS; f++) {
                int8_t *codes = bench.buffers.data[BUF_Y];
                assert_int_equal(formulas[f](&bench.shape, bench.in, BUF_Y, 0, n, codes), 0);
                /* A tenth of what is allowed, and none at all for bf16. */
                struct check_result found = bench_judge(&bench);
                assert_int_equal(found.wrong, 0);
                assert_true(found.near <= (input == INPUT_BF16 ? 0 : (int64_t)(1e-5 * (double)n)));
                int seen[256] = {0};
                for (int64_t i = 0; i < n; i++)
                    seen[codes[i] + 128]++;
                /* Above 8 a bf16 moves by 0.0625, more than s. */
                bool skips = input == INPUT_BF16 && scale == SCALE_ODD_MINUS128;
                for (int code = 0; code < 256; code++)
                    assert_true(seen[code] > 0 || skips);
                /* Saturation makes the end codes several times as frequent. */
                assert_true(seen[0] > 3 * seen[100] && seen[255] > 3 * seen[100]);
            }
            bench_release(&bench);
        }
    }
}

TEST(all_formulas_give_every_bf16_value_its_exact_code)
{
    static uint16_t every[65536];
    static int8_t codes[65536];
    static double expected[65536];
    for (int i = 0; i < 65536; i++)
        every[i] = (uint16_t)i;
    const void *const in[] = {every};
    for (int64_t scale = SCALE_ODD; scale < SCALES; scale++) {
        struct assay_shape shape = SHAPE("int8_quantize", 65536, INPUT_BF16, scale);
        shape.operation->reference(&shape, in, BUF_Y, 0, 65536, expected, NULL);
        for (int f = 0; f < FORMULAS; f++) {
            formulas[f](&shape, in, BUF_Y, 0, 65536, codes);
            for (int i = 0; i < 65536; i++)
                assert_int_equal(codes[i], (int)rint(expected[i]));
        }
    }
}

TEST(a_scale_that_is_a_power_of_two_makes_all_formulas_agree)
{
    const int64_t n = 1000003;
    struct bench bench;
    bench_init(&bench, SHAPE("int8_quantize", n, INPUT_FP32, SCALE_POW2));
    int8_t *other = malloc((size_t)n);
    assert_non_null(other);
    int8_model_div(&bench.shape, bench.in, BUF_Y, 0, n, bench.buffers.data[BUF_Y]);
    for (int f = 1; f < FORMULAS; f++) {
        formulas[f](&bench.shape, bench.in, BUF_Y, 0, n, other);
        assert_memory_equal(other, bench.buffers.data[BUF_Y], (size_t)n);
    }
    free(other);
    bench_release(&bench);
}

TEST(exact_ties_go_to_the_even_code_and_the_ends_saturate)
{
    const struct {
        float q;
        int code;
    } cases[] = {{0.5f, 0},       {1.5f, 2},       {2.5f, 2},       {-0.5f, 0},      {-1.5f, -2},
                 {-2.5f, -2},     {126.5f, 126},   {127.5f, 127},   {127.0f, 127},   {1000.0f, 127},
                 {-127.5f, -128}, {-128.5f, -128}, {-129.0f, -128}, {-1000.0f, -128}};
    const int64_t scales[] = {SCALE_POW2, SCALE_POW2_MINUS5};
    for (int p = 0; p < 2; p++)
        for (int f = 0; f < FORMULAS; f++)
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                float x = (cases[i].q - zero_of(scales[p])) * INT8_SCALE_POW2;
                assert_int_equal(code_of(formulas[f], x, scales[p]), cases[i].code);
            }
}

TEST(nan_gives_zero_infinities_saturate_and_nothing_gives_the_zero_point)
{
    for (int f = 0; f < FORMULAS; f++) {
        for (int64_t scale = SCALE_ODD; scale < SCALES; scale++) {
            assert_int_equal(code_of(formulas[f], NAN, scale), 0);
            assert_int_equal(code_of(formulas[f], -NAN, scale), 0);
            assert_int_equal(code_of(formulas[f], INFINITY, scale), 127);
            assert_int_equal(code_of(formulas[f], -INFINITY, scale), -128);
            assert_int_equal(code_of(formulas[f], 3e38f, scale), 127);
            assert_int_equal(code_of(formulas[f], -3e38f, scale), -128);
            assert_int_equal(code_of(formulas[f], 0.0f, scale), zero_of(scale));
            assert_int_equal(code_of(formulas[f], -0.0f, scale), zero_of(scale));
            assert_int_equal(code_of(formulas[f], 1e-45f, scale), zero_of(scale));
            assert_int_equal(code_of(formulas[f], -1e-45f, scale), zero_of(scale));
        }
    }
}

TEST(a_neighbour_code_is_near_only_beside_a_tie)
{
    struct assay_shape shape = SHAPE("int8_quantize", 1, INPUT_FP32, SCALE_ODD);
    const struct assay_operation *operation = shape.operation;
    assert_int_equal(operation->match(&shape, BUF_Y, 4.2, 4), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, BUF_Y, 4.2, 5), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, BUF_Y, 4.50001, 4), ASSAY_NEAR);
    assert_int_equal(operation->match(&shape, BUF_Y, 4.50001, 6), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, BUF_Y, 4.5001, 4), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, BUF_Y, -4.50001, -4), ASSAY_NEAR);
    assert_int_equal(operation->match(&shape, BUF_Y, 4.5, 4), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, BUF_Y, 0.0, 127), ASSAY_WRONG);
}

/* One code by a formula. */
typedef int8_t formula_function(float x, float s, float z);

static int8_t rounds_before_the_zero_point(float x, float s, float z)
{
    return int8_code(rintf(x / s) + z);
}

static int8_t rounds_half_away_from_zero(float x, float s, float z)
{
    float q = x / s + z;
    return q != q ? 0 : int8_code(roundf(fminf(fmaxf(q, -128), 127)));
}

static int8_t rounds_half_up(float x, float s, float z)
{
    return int8_code(floorf(x / s + z + 0.5f));
}

static int8_t truncates(float x, float s, float z)
{
    return int8_code(truncf(x / s + z));
}

static int8_t has_no_zero_point(float x, float s, float z)
{
    return int8_code(x / s + 0 * z);
}

static int8_t has_a_zero_point_without_sign(float x, float s, float z)
{
    return int8_code(x / s + fabsf(z));
}

static int8_t wraps(float x, float s, float z)
{
    float q = x / s + z;
    return fabsf(q) < 1e9f ? (int8_t)(int)rintf(q) : int8_code(q);
}

static int8_t ends_at_127(float x, float s, float z)
{
    return (int8_t)fmaxf(int8_code(x / s + z), -127);
}

/* s as a bf16 number. */
static int8_t has_a_coarse_scale(float x, float s, float z)
{
    uint32_t bits;
    memcpy(&bits, &s, sizeof bits);
    return int8_code(x / int8_widen((uint16_t)((bits + 0x8000) >> 16)) + z);
}

static int8_t divides(float x, float s, float z)
{
    return int8_code(x / s + z);
}

/* __fdividef at its worst: 2 units in the last place. */
static int8_t divides_fast(float x, float s, float z)
{
    float q = x / s, away = copysignf(INFINITY, q);
    return int8_code(nextafterf(nextafterf(q, away), away) + z);
}

static int8_t multiplies(float x, float s, float z)
{
    return int8_code(fmaf(x, 1 / s, z));
}

static bool is_refused(int64_t n, int64_t scale, formula_function *formula)
{
    struct bench bench;
    bench_init(&bench, SHAPE("int8_quantize", n, INPUT_FP32, scale));
    float s = int8_scale(&bench.shape), z = int8_zero(&bench.shape);
    for (int64_t i = 0; i < n; i++)
        ((int8_t *)bench.buffers.data[BUF_Y])[i] =
            formula(((const float *)bench.buffers.data[BUF_X])[i], s, z);
    bool refused = bench_judge(&bench).reason[0] != 0;
    bench_release(&bench);
    return refused;
}

TEST(every_mistake_is_refused_and_no_formula_whatever_the_seed)
{
    enum { N = 8192, SEEDS = 40 };
    static const struct {
        formula_function *formula;
        bool refused[SCALES]; /* odd, pow2, odd_minus128, pow2_minus5 */
    } rows[] = {
        {divides, {0, 0, 0, 0}},
        {divides_fast, {0, 0, 0, 0}},
        {multiplies, {0, 0, 0, 0}},
        {rounds_before_the_zero_point, {1, 1, 0, 1}}, /* an even zero keeps a code even */
        {rounds_half_away_from_zero, {1, 1, 0, 1}},   /* the one exact tie is -127.5 */
        {rounds_half_up, {1, 1, 1, 1}},
        {truncates, {1, 1, 1, 1}},
        {has_no_zero_point, {1, 1, 1, 1}},
        {has_a_zero_point_without_sign, {0, 0, 1, 1}},
        {wraps, {1, 1, 1, 1}},
        {ends_at_127, {1, 1, 1, 1}},
        {has_a_coarse_scale, {1, 0, 1, 0}}, /* 2^-5 is a bf16 number */
    };
    for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int64_t scale = 0; scale < SCALES; scale++) {
                /* Nothing but a division is exact at 2 units in the last place. */
                bool pow2 = scale == SCALE_POW2 || scale == SCALE_POW2_MINUS5;
                if (pow2 && rows[i].formula == divides_fast) continue;
                assert_int_equal(is_refused(N, scale, rows[i].formula), rows[i].refused[scale]);
            }
    bench_seed = 1;
}

/* 62.5 - 2^-18 is an fp32 number, and 3 more a tie of fp32: 65.5, whose code is 66. */
TEST(the_sum_with_the_zero_point_may_be_rounded_to_fp32_or_not)
{
    const float x = (62.5f - 0x1p-18f) * INT8_SCALE_POW2;
    const void *const in[] = {&x};
    struct assay_shape shape = SHAPE("int8_quantize", 1, INPUT_FP32, SCALE_POW2);
    double expected;
    shape.operation->reference(&shape, in, BUF_Y, 0, 1, &expected, NULL);
    for (int f = 0; f < FORMULAS; f++)
        assert_int_equal(code_of(formulas[f], x, SCALE_POW2), 66);
    for (int code = 64; code <= 67; code++)
        assert_int_equal(shape.operation->match(&shape, BUF_Y, expected, code),
                         code == 65 || code == 66 ? ASSAY_EXACT : ASSAY_WRONG);
}

TEST(work_counts_each_byte_once)
{
    struct assay_shape shape = SHAPE("int8_quantize", 1000, INPUT_FP32, SCALE_ODD);
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 4000 && work.write_bytes == 1000);
    shape = SHAPE("int8_quantize_token", 10, 100, INPUT_BF16);
    work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 2000 && work.write_bytes == 1040);
}
