/*
 * test_family_fp8.c - fp8_quantize on the host: groups of any length, the vector conversion against
 * the element table, what the data hold, and what is not a number.
 */
#include "tests/kernels/bench.h"
#include "kernels/fp8/fp8.h"

TEST(every_host_variant_is_right_on_groups_of_any_length)
{
    const int64_t shapes[][2] = {{1, 1},   {1, 7},   {3, 5},    {7, 127},
                                 {2, 128}, {5, 129}, {9, 1021}, {3, 4100}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t choice = 0; choice < 3 * 2 * 2 * 2; choice++)
            bench_all(SHAPE("fp8_quantize", shapes[i][0], shapes[i][1], choice / 8, choice / 4 % 2,
                            choice / 2 % 2, choice % 2),
                      "host_scalar host_omp");
}

static unsigned stored(enum assay_type type, float value)
{
    uint8_t code;
    assay_store(type, &code, 0, (double)value);
    return code;
}

static void check_code(int64_t choice, float q)
{
    struct fp8_format format = fp8_format(choice);
    assert_int_equal(fp8_code(q, format.most, format.fraction_bits, format.bias),
                     stored(format.type, q));
}

/* Every upper half of an fp32: the value, its neighbours, and the middle to the next. */
TEST(the_vector_conversion_is_that_of_the_element_table)
{
    for (uint32_t upper = 0; upper < 0x10000; upper++) {
        static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
        for (int i = 0; i < 6; i++) {
            float q = fp8_float(upper << 16 | lower[i]);
            check_code(FP8_E4M3, q);
            check_code(FP8_E5M2, q);
        }
    }
}

TEST(sixteen_bits_are_widened_as_the_element_table_does)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits;
        double fp16 = assay_load(ASSAY_F16, &half, 0), bf16 = assay_load(ASSAY_BF16, &half, 0);
        assert_true(isnan(fp16) ? isnan(half_widen(half)) : (double)half_widen(half) == fp16);
        assert_true(isnan(bf16) ? isnan(fp8_widen_bf16(half))
                                : (double)fp8_widen_bf16(half) == bf16);
    }
}

TEST(data_hit_every_code_and_stay_near)
{
    const int64_t rows = 256, columns = 4096;
    for (int64_t format = FP8_E4M3; format <= FP8_E5M2; format++) {
        struct bench bench;
        bench_init(&bench,
                   SHAPE("fp8_quantize", rows, columns, FP8_FP32, format, FP8_PER_128, FP8_PLAIN));
        const uint8_t *codes = bench.buffers.data[FP8_Y];
        fp8_model(&bench.shape, bench.in, FP8_Y, 0, rows * columns, bench.buffers.data[FP8_Y]);
        fp8_model(&bench.shape, bench.in, FP8_SCALES, 0, rows * 32, bench.buffers.data[FP8_SCALES]);
        struct check_result found = bench_judge(&bench);
        assert_int_equal(found.wrong, 0);
        assert_true(found.near <= rows * columns / 20000);
        int seen[256] = {0};
        for (int64_t i = 0; i < rows * columns; i++)
            seen[codes[i]]++;
        for (unsigned code = 0; code <= (format == FP8_E4M3 ? 0x7e : 0x7b); code++)
            assert_true(seen[code] > 0 && seen[code | 0x80] > 0);
        assert_int_equal(seen[0x7f] + seen[0xff], 0);
        bench_release(&bench);
    }
}

TEST(zeros_extremes_and_what_is_no_number)
{
    const float x[] = {NAN, INFINITY, -INFINITY, 1, -2, 0, -0.0f, 0x1p-130f, /* a is 2 */
                       0,   -0.0f,    NAN,       0, 0,  0, 0,     INFINITY,  /* a is the floor */
                       1,   2,        3,         4, 5,  6, 7,     0x1p127f};
    const uint8_t codes[] = {0x7f, 0x7e, 0xfe, 0x76, 0xfe, 0x00, 0x80, 0x00,
                             0x00, 0x80, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x7e,
                             0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7e};
    const float scales[] = {2 / 448.0f, 0x1p-100f / 448.0f, 0x1p127f / 448.0f};
    struct assay_shape shape =
        SHAPE("fp8_quantize", 3, 8, FP8_FP32, FP8_E4M3, FP8_PER_TOKEN, FP8_PLAIN);
    const void *const in[] = {x};
    uint8_t got[24];
    float found[3];
    double expected[24];
    fp8_model(&shape, in, FP8_Y, 0, 24, got);
    fp8_model(&shape, in, FP8_SCALES, 0, 3, found);
    assert_memory_equal(got, codes, sizeof codes);
    assert_memory_equal(found, scales, sizeof scales);
    shape.operation->reference(&shape, in, FP8_Y, 0, 24, expected, NULL);
    for (int i = 0; i < 24; i++)
        assert_int_equal(
            shape.operation->match(&shape, FP8_Y, expected[i], assay_load(ASSAY_E4M3, codes, i)),
            ASSAY_EXACT);
    assert_int_equal(shape.operation->match(&shape, FP8_Y, NAN, 448), ASSAY_WRONG);
    assert_int_equal(shape.operation->match(&shape, FP8_Y, 448, NAN), ASSAY_WRONG);
    assert_int_equal(shape.operation->match(&shape, FP8_Y, INFINITY, 416), ASSAY_WRONG);
}

TEST(both_sides_of_a_tie_are_right_and_no_other_code)
{
    struct assay_shape shape = SHAPE("fp8_quantize", 1, 1, FP8_FP32, FP8_E4M3);
    const struct assay_operation *operation = shape.operation;
    assert_int_equal(operation->match(&shape, FP8_Y, 336, 320), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, FP8_Y, 336, 352), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, FP8_Y, 336, 384), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, FP8_Y, 336 * (1 + 0x1p-23), 320), ASSAY_NEAR);
    assert_int_equal(operation->match(&shape, FP8_Y, 336 * (1 + 0x1p-20), 320), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, FP8_Y, 0, 0x1p-9), ASSAY_WRONG);
}
