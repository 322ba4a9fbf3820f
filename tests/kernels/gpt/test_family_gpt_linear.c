/*
 * test_family_gpt_linear.c - `linear` on the host: variants against the reference at
 * odd shapes, and bounds that tell right from wrong.
 */
#include "tests/kernels/bench.h"
#include "kernels/gpt/gpt.h"
#include "kernels/gpt/linear/linear_order.h"

static void every_linear_is_right_at_odd_shapes(void **state)
{
    (void)state;
    const int64_t shapes[][3] = {{1, 1, 1}, {1, 7, 3}, {5, 1, 9}, {17, 33, 65}, {8, 257, 48}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t precision = GPT_FP32; precision <= GPT_BF16; precision++)
            for (int64_t bias = LINEAR_NO_BIAS; bias <= LINEAR_FUSED; bias += 2) {
                bench_all(SHAPE("linear", shapes[i][0], shapes[i][1], shapes[i][2], precision,
                                LINEAR_DIRECT, bias),
                          "host_scalar host_omp");
            }
}

/* Run the plain variant, spoil one output by a share of it, and count what is wrong. */
static int64_t wrong_after(int64_t precision, double share, bool forget_the_bias)
{
    struct bench bench;
    bench_init(&bench, SHAPE("linear", 4, 5, 256, precision, LINEAR_DIRECT, LINEAR_FUSED));
    bench_run(&bench, bench_variant("linear", "host_scalar"));
    void *y = bench.buffers.data[LINEAR_Y];
    enum assay_type type = bench.buffers.spec[LINEAR_Y].type;
    double b = forget_the_bias ? assay_load(type, bench.buffers.data[LINEAR_B], 2) : 0;
    double was = assay_load(type, y, 2);
    assay_store(type, y, 2, was * (1 + share) - b);
    int64_t wrong = bench_judge(&bench).wrong;
    bench_release(&bench);
    return wrong;
}

static void the_bound_passes_what_is_right_and_nothing_that_is_off(void **state)
{
    (void)state;
    for (int64_t precision = GPT_FP32; precision <= GPT_BF16; precision++) {
        assert_int_equal(wrong_after(precision, 0, false), 0);
        assert_int_equal(wrong_after(precision, 0.25, false), 1);
        assert_int_equal(wrong_after(precision, 0, true), 1);
    }
}

static void work_counts_operands_once(void **state)
{
    (void)state;
    struct assay_shape shape = {registry_operation("linear"),
                                {2, 3, 5, GPT_BF16, LINEAR_DIRECT, LINEAR_FUSED}};
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 2 * (10 + 15 + 3) && work.write_bytes == 12);
    assert_true(work.ops[ASSAY_BF16_OPS] == 60 && work.ops[ASSAY_FP32] == 6);
}

/* bands x columns tiles in groups of `group`: each once, and none outside. */
static void check_order(int bands, int columns, int group)
{
    int count = bands * columns;
    bool *seen = calloc((size_t)count, sizeof *seen);
    assert_non_null(seen);
    for (int index = 0; index < count; index++) {
        struct linear_tile tile = linear_order(index, bands, columns, group);
        assert_in_range(tile.band, 0, bands - 1);
        assert_in_range(tile.column, 0, columns - 1);
        assert_false(seen[tile.band * columns + tile.column]);
        seen[tile.band * columns + tile.column] = true;
    }
    free(seen);
}

static void every_tile_is_taken_once(void **state)
{
    (void)state;
    const int sizes[] = {1, 2, 7, 8, 9, 17};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (int group = 1; group <= 9; group++)
                check_order(sizes[i], sizes[j], group);
}

static void the_order_goes_down_a_group_before_the_next_column(void **state)
{
    (void)state;
    const int expected[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}; /* 3 x 2, by 2 */
    for (int index = 0; index < 6; index++) {
        struct linear_tile tile = linear_order(index, 3, 2, 2);
        assert_int_equal(tile.band, expected[index][0]);
        assert_int_equal(tile.column, expected[index][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_linear_is_right_at_odd_shapes),
        cmocka_unit_test(the_bound_passes_what_is_right_and_nothing_that_is_off),
        cmocka_unit_test(work_counts_operands_once),
        cmocka_unit_test(every_tile_is_taken_once),
        cmocka_unit_test(the_order_goes_down_a_group_before_the_next_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
