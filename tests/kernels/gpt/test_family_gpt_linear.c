/*
 * test_family_gpt_linear.c - `linear` on the host: variants against the reference at
 * odd shapes, and bounds that tell right from wrong.
 */
#include "tests/kernels/bench.h"
#include "kernels/gpt/gpt.h"
#include "kernels/gpt/linear/linear_order.h"
#include "kernels/gpt/linear/linear_parts.h"

TEST(every_linear_is_right_at_odd_shapes)
{
    const int64_t shapes[][3] = {{1, 1, 1}, {1, 7, 3}, {5, 1, 9}, {17, 33, 65}, {8, 257, 48}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
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

TEST(the_bound_passes_what_is_right_and_nothing_that_is_off)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
        assert_int_equal(wrong_after(precision, 0, false), 0);
        assert_int_equal(wrong_after(precision, 0.25, false), 1);
        assert_int_equal(wrong_after(precision, 0, true), 1);
    }
}

TEST(work_counts_operands_once)
{
    struct assay_shape shape = {registry_operation("linear"),
                                {2, 3, 5, GPT_BF16, LINEAR_DIRECT, LINEAR_FUSED}};
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 2 * (10 + 15 + 3) && work.write_bytes == 12);
    assert_true(work.ops[ASSAY_BF16_OPS] == 60 && work.ops[ASSAY_FP32] == 6);
    shape.value[LINEAR_PRECISION] = GPT_FP16;
    work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 2 * (10 + 15 + 3) && work.write_bytes == 12);
    assert_true(work.ops[ASSAY_FP16_OPS] == 60 && work.ops[ASSAY_BF16_OPS] == 0);
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

TEST(every_tile_is_taken_once)
{
    const int sizes[] = {1, 2, 7, 8, 9, 17};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (int group = 1; group <= 9; group++)
                check_order(sizes[i], sizes[j], group);
}

/* By factors, at all tiles or at two of each `step`. */
static void check_order_by(int bands, int columns, int group, int step)
{
    const struct linear_order_plan plan = linear_order_plan_of(bands, columns, group);
    for (int index = 0; index < bands * columns; index += index % step ? step - 1 : 1) {
        struct linear_tile tile = linear_order(index, bands, columns, group);
        struct linear_tile by = linear_order_by(&plan, index);
        assert_int_equal(by.band, tile.band);
        assert_int_equal(by.column, tile.column);
    }
}

TEST(factors_give_the_same_order_as_divisions)
{
    for (int bands = 1; bands <= 17; bands++)
        for (int columns = 1; columns <= 33; columns++)
            for (int group = 1; group <= 9; group++)
                check_order_by(bands, columns, group, 1);
    check_order_by(1000, 997, 7, 997);
    check_order_by(2, (1 << 22) - 3, 2, 1021); /* as many columns as memory has room for */
    check_order_by(3, (1 << 22) - 3, 2, 1021);
    check_order_by((1 << 22) - 3, 1, 1, 1021);
    check_order_by((1 << 22) - 3, 2, 8, 1021);
}

TEST(the_order_goes_down_a_group_before_the_next_column)
{
    const int expected[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}; /* 3 x 2, by 2 */
    for (int index = 0; index < 6; index++) {
        struct linear_tile tile = linear_order(index, 3, 2, 2);
        assert_int_equal(tile.band, expected[index][0]);
        assert_int_equal(tile.column, expected[index][1]);
    }
}

/* The part of a divided tile whose sums a share hands over, in stages from the tile's first: one
 * that its tile does not begin with, the first of the share. */
static struct linear_unit handed_over(int share, const struct linear_division *of)
{
    struct linear_walk walk = linear_walk_of(share, of);
    struct linear_unit unit, none = {-1, 0, 0};
    return linear_walk_next(&walk, &unit) && unit.begin > 0 ? unit : none;
}

/* What the share that begins a tile adds up: the parts that others hand over, up to the tile's end.
 */
static void check_join(const struct linear_walk *walk, struct linear_unit first)
{
    int reached = first.end, other;
    for (int i = 0; (other = linear_walk_other(walk, first.tile, i)) >= 0; i++) {
        struct linear_unit part = handed_over(other, &walk->of);
        assert_int_equal(part.tile, first.tile);
        assert_int_equal(part.begin, reached);
        reached = part.end;
    }
    assert_int_equal(reached, walk->of.depth);
}

/* A share's stages are equally many where tiles are divided evenly, and never more than the whole
 * rounds and a part where they are divided alike. */
static void check_stages(const struct linear_division *of, int fit, int stages)
{
    if (of->split == 0) return;
    int each = of->tiles * of->depth / of->shares;
    if (of->ways == 0)
        assert_in_range(stages, each, each + 1);
    else
        assert_in_range(stages, 1, of->tiles / fit * of->depth + of->depth / of->ways + 1);
}

/* Every stage of every tile is in one unit; a share hands over one part at most, its first. */
static void check_division(enum linear_parts_how how, int tiles, int depth, int fit, int most)
{
    const struct linear_division of = linear_division_of(how, tiles, depth, fit, most);
    int *seen = calloc((size_t)(tiles * depth), sizeof *seen);
    assert_non_null(seen);
    assert_in_range(of.shares, 1, fit);
    for (int share = 0; share < of.shares; share++) {
        struct linear_walk walk = linear_walk_of(share, &of);
        struct linear_unit unit;
        int units = 0, stages = 0;
        for (; linear_walk_next(&walk, &unit); units++) {
            for (int step = unit.begin; step < unit.end; step++)
                seen[unit.tile * depth + step]++;
            stages += unit.end - unit.begin;
            assert_true(unit.begin < unit.end && unit.end <= depth);
            assert_true(unit.begin == 0 || units == 0);
            if (unit.begin == 0 && unit.end < depth) check_join(&walk, unit);
        }
        assert_true(units > 0 && !linear_walk_more(&walk));
        check_stages(&of, fit, stages);
    }
    for (int i = 0; i < tiles * depth; i++)
        assert_int_equal(seen[i], 1);
    free(seen);
}

TEST(divided_tiles_are_whole_again)
{
    const int shares[] = {1, 2, 5, 33, 66};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (int tiles = 1; tiles <= 3 * shares[i] && tiles < 140; tiles++)
            for (int depth = 1; depth <= 80; depth += depth < 4 ? 1 : 19)
                for (int how = LINEAR_WHOLE; how <= LINEAR_ALIKE; how++)
                    for (int most = 2; most <= 32; most *= 4)
                        check_division(how, tiles, depth, shares[i], most);
}

TEST(tiles_divided_alike_end_together)
{
    /* 80 tiles on 32 clusters: two rounds, and 16 in halves. */
    struct linear_division of = linear_division_of(LINEAR_ALIKE, 80, 216, 32, 8);
    assert_int_equal(of.split, 16);
    assert_int_equal(of.ways, 2);
    assert_int_equal(of.shares, 32);
    /* 20 on 44: halves of each; 30 on 44: no room. */
    assert_int_equal(linear_division_of(LINEAR_ALIKE, 20, 216, 44, 8).shares, 40);
    assert_int_equal(linear_division_of(LINEAR_ALIKE, 30, 216, 44, 8).split, 0);
    /* 3 on 66: as many parts as there may be, of four stages at least. */
    assert_int_equal(linear_division_of(LINEAR_ALIKE, 3, 216, 66, 64).ways, 22);
    assert_int_equal(linear_division_of(LINEAR_ALIKE, 3, 216, 66, 8).ways, 8);
    assert_int_equal(linear_division_of(LINEAR_ALIKE, 3, 43, 66, 64).ways, 10);
}
