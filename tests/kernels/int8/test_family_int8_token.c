/*
 * test_family_int8_token.c - int8_quantize_token on the host: rows of any length,
 * rows of zeros, ties, and the data themselves.
 */
#include "tests/kernels/bench.h"
#include "kernels/int8/int8.h"

TEST(every_host_variant_is_right_on_rows_of_any_length)
{
    const int64_t shapes[][2] = {{1, 1},   {1, 7},     {3, 5},    {7, 1},    {2, 16},
                                 {33, 31}, {129, 127}, {61, 257}, {100, 96}, {17, 4096}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t input = INPUT_FP32; input <= INPUT_BF16; input++) {
            const int64_t *s = shapes[i];
            int64_t near = bench_all(SHAPE("int8_quantize_token", s[0], s[1], input),
                                     "host_scalar host_copy_r4w1 host_memcpy host_omp");
            assert_true(near <= 1 || (double)near <= 1e-4 * (double)(s[0] * s[1]));
        }
}

TEST(token_data_hit_every_code_hold_rows_of_zeros_and_stay_near)
{
    const int64_t tokens = 509, hidden = 4096;
    for (int64_t input = INPUT_FP32; input <= INPUT_BF16; input++) {
        struct bench bench;
        bench_init(&bench, SHAPE("int8_quantize_token", tokens, hidden, input));
        int8_t *codes = bench.buffers.data[BUF_Y];
        float *scales = bench.buffers.data[BUF_SCALES];
        int8_model_token(&bench.shape, bench.in, BUF_Y, 0, tokens * hidden, codes);
        int8_model_token(&bench.shape, bench.in, BUF_SCALES, 0, tokens, scales);
        /* All of them codes: a scale is right or wrong. */
        struct check_result found = bench_judge(&bench);
        assert_int_equal(found.wrong, 0);
        assert_true(found.near <= tokens * hidden / 100000);
        int seen[256] = {0};
        for (int64_t i = 0; i < tokens * hidden; i++)
            seen[codes[i] + 128]++;
        assert_int_equal(seen[0], 0);
        for (int code = 1; code < 256; code++)
            assert_true(seen[code] > 0);
        int zeros = 0, changes = 0;
        for (int64_t row = 0; row < tokens; row++) {
            zeros += scales[row] == 0.0f;
            changes += row > 0 && scales[row] != scales[row - 1];
        }
        assert_true(zeros > 0 && zeros < 64);
        assert_true(changes > 400);
        bench_release(&bench);
    }
}

/* What only one element of a row may say: denormals alone would be outside of the definition. */
TEST(a_row_has_its_amplitude_however_short_it_is)
{
    for (int64_t hidden = 1; hidden <= 5; hidden++) {
        struct bench bench;
        const int64_t tokens = 4099;
        int firsts = 0, lasts = 0;
        bench_init(&bench, SHAPE("int8_quantize_token", tokens, hidden, INPUT_FP32));
        const float *x = bench.in[BUF_X];
        for (int64_t row = 0; row < tokens; row++) {
            float most = 0;
            for (int64_t i = 0; i < hidden; i++)
                most = fmaxf(most, fabsf(x[row * hidden + i]));
            assert_true(most == 0 || most >= 0x1p-4f);
            firsts += fabsf(x[row * hidden]) == most;
            lasts += fabsf(x[row * hidden + hidden - 1]) == most;
        }
        assert_true(firsts > tokens / 4 && lasts > tokens / 4);
        bench_release(&bench);
    }
}

TEST(a_row_of_zeros_has_codes_and_scale_zero)
{
    const float x[] = {0.0f, -0.0f, 0.0f, -254.0f, 127.0f, 1.0f};
    const void *const in[] = {x};
    struct assay_shape shape = SHAPE("int8_quantize_token", 2, 3, INPUT_FP32);
    int8_t codes[6];
    float scales[2];
    int8_model_token(&shape, in, BUF_Y, 0, 6, codes);
    int8_model_token(&shape, in, BUF_SCALES, 0, 2, scales);
    const int8_t expected[] = {0, 0, 0, -127, 64, 0};
    assert_memory_equal(codes, expected, sizeof codes);
    assert_true(scales[0] == 0.0f && scales[1] == 2.0f);
    double reference[6];
    shape.operation->reference(&shape, in, BUF_Y, 0, 6, reference, NULL);
    assert_true(reference[0] == 0.0 && reference[3] == -127.0 && reference[4] == 63.5);
}

TEST(a_range_inside_a_row_gives_what_the_whole_row_gives)
{
    struct bench bench;
    bench_init(&bench, SHAPE("int8_quantize_token", 5, 33, INPUT_BF16));
    int8_t whole[165], part[165];
    double expected[165], piece[165];
    int8_model_token(&bench.shape, bench.in, BUF_Y, 0, 165, whole);
    int8_model_token(&bench.shape, bench.in, BUF_Y, 40, 150, part + 40);
    assert_memory_equal(part + 40, whole + 40, 110);
    bench.shape.operation->reference(&bench.shape, bench.in, BUF_Y, 0, 165, expected, NULL);
    bench.shape.operation->reference(&bench.shape, bench.in, BUF_Y, 40, 150, piece + 40, NULL);
    assert_memory_equal(piece + 40, expected + 40, 110 * sizeof *piece);
    bench_release(&bench);
}

TEST(half_of_the_largest_value_is_right_either_way)
{
    struct assay_shape shape = SHAPE("int8_quantize_token", 1, 1, INPUT_FP32);
    const struct assay_operation *operation = shape.operation;
    assert_int_equal(operation->match(&shape, BUF_Y, 63.5, 63), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, BUF_Y, 63.5, 64), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, BUF_Y, -63.5, -63), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, BUF_Y, -63.5, -65), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, BUF_Y, 62.5, 63), ASSAY_NEAR);
    assert_int_equal(operation->match(&shape, BUF_SCALES, 1.0, 1.0 + 0x1p-23), ASSAY_EXACT);
    assert_int_equal(operation->match(&shape, BUF_SCALES, 1.0, 1.0 + 0x1p-22), ASSAY_WRONG);
    assert_int_equal(operation->match(&shape, BUF_SCALES, 0.0, 1e-30), ASSAY_WRONG);
}

/* All rows with the scale that a search finds which leaves elements [from, to) out. */
static bool is_refused(struct bench *bench, int64_t from, int64_t to)
{
    int64_t tokens = bench->shape.value[TOKEN_TOKENS], hidden = bench->shape.value[TOKEN_HIDDEN];
    for (int64_t row = 0; row < tokens; row++) {
        float most = 0;
        for (int64_t i = 0; i < hidden; i++)
            if (i < from || i >= to)
                most =
                    fmaxf(most, fabsf(int8_load(bench->in[BUF_X], bench->shape.value[TOKEN_INPUT],
                                                row * hidden + i)));
        ((float *)bench->buffers.data[BUF_SCALES])[row] = most / 127;
        for (int64_t i = row * hidden; i < (row + 1) * hidden; i++) {
            float x = int8_load(bench->in[BUF_X], bench->shape.value[TOKEN_INPUT], i);
            ((int8_t *)bench->buffers.data[BUF_Y])[i] = most > 0 ? int8_code(x * (127 / most)) : 0;
        }
    }
    return bench_judge(bench).reason[0] != 0;
}

/* At the rows of the suites, and at one that vectors do not divide. */
TEST(a_search_that_leaves_out_an_end_of_a_row_is_refused)
{
    enum { SEEDS = 40 };
    const int64_t hidden[] = {4096, 8192, 4099};
    for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++)
        for (int64_t input = INPUT_FP32; input <= INPUT_BF16; input++)
            for (int h = 0; h < 3; h++) {
                struct bench bench;
                int64_t n = hidden[h];
                bench_init(&bench, SHAPE("int8_quantize_token", 1, n, input));
                assert_false(is_refused(&bench, 0, 0));
                assert_true(is_refused(&bench, n - 1, n));
                bench_release(&bench);
                bench_init(&bench, SHAPE("int8_quantize_token", 4, n, input));
                assert_false(is_refused(&bench, 0, 0));
                assert_true(is_refused(&bench, n - 1, n));
                assert_true(is_refused(&bench, 0, 1));
                bench_release(&bench);
            }
    bench_seed = 1;
}

/* A row's last 32 elements: all lanes of the widest vectors. */
TEST(the_peaks_of_rows_are_at_every_lane_of_the_tail)
{
    for (int64_t input = INPUT_FP32; input <= INPUT_BF16; input++) {
        struct bench bench;
        const int64_t tokens = 2048, hidden = 4096;
        bench_init(&bench, SHAPE("int8_quantize_token", tokens, hidden, input));
        int peaks[32] = {0};
        for (int64_t row = 0; row < tokens; row++) {
            float most = 0;
            int64_t at = 0, equal = 0;
            for (int64_t i = 0; i < hidden; i++) {
                float x = fabsf(int8_load(bench.in[BUF_X], input, row * hidden + i));
                equal = x > most ? 1 : equal + (x == most);
                if (x > most) at = i;
                most = fmaxf(most, x);
            }
            assert_true(most == 0 || equal == 1); /* no other element gives its scale away */
            if (most > 0 && at >= hidden - 32) peaks[at - hidden + 32]++;
        }
        for (int lane = 0; lane < 32; lane++)
            assert_true(peaks[lane] > 0);
        bench_release(&bench);
    }
}
