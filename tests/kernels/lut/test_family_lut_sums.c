/*
 * test_family_lut_sums.c - row sums of a one-sided product find what a sample of elements can miss.
 */
#include "tests/kernels/bench.h"
#include "kernels/lut/lut.h"

#include "kernels/lut/row_sums.h"

enum { ROWS = 96, K = 520, COLUMNS = 160, TILE = 32 };

/* Zeros in a tile whose upper left element is (row, column); `keep` has what was there. */
static void spoil(float *c, int row, int column, float keep[TILE][TILE], bool back)
{
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            float *at = c + (row + i) * COLUMNS + column + j;
            if (back)
                *at = keep[i][j];
            else
                keep[i][j] = *at, *at = 0;
        }
}

/* Each tile of C in turn: the first wrong row is one of its own. */
static void assert_tiles_are_found(const struct bench *bench, const bool *finite,
                                   const struct row_sum *sums)
{
    static float keep[TILE][TILE];
    float *c = bench->buffers.data[LUT_C];
    assert_int_equal(row_sums_wrong(&bench->shape, c, finite, sums, ROWS), -1);
    for (int row = 0; row < ROWS; row += TILE)
        for (int column = 0; column < COLUMNS; column += TILE) {
            spoil(c, row, column, keep, false);
            int64_t wrong = row_sums_wrong(&bench->shape, c, finite, sums, ROWS);
            assert_true(wrong >= row && wrong < row + TILE);
            spoil(c, row, column, keep, true);
        }
    assert_int_equal(row_sums_wrong(&bench->shape, c, finite, sums, ROWS), -1);
}

TEST(a_wrong_tile_of_a_one_sided_product_is_found)
{
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++)
        for (int code = 0; code < 4; code += 3) { /* q2m1, q3m2 */
            struct bench bench;
            struct row_sum sums[ROWS];
            struct column_sums of_b = {0};
            bench_init(&bench, SHAPE("lut_matmul_onesided", ROWS, K, COLUMNS, lattice, code,
                                     LUT_PACKED, 0));
            bench_run(&bench, bench_variant(bench.shape.operation->name, "host_omp"));
            assert_int_equal(column_sums_init(&of_b, &bench.shape), 0);
            const float *b = bench.buffers.data[LUT_B];
            column_sums_add(&of_b, &bench.shape, b, 0, 100); /* in two parts */
            column_sums_add(&of_b, &bench.shape, b + 100 * K, 100, COLUMNS - 100);
            assert_false(of_b.finite[0]); /* what the fill puts into the first row */
            assert_true(of_b.finite[1]);
            assert_int_equal(
                onesided_row_sums(&bench.shape, bench.buffers.data[LUT_A], &of_b, ROWS, sums), 0);
            assert_tiles_are_found(&bench, of_b.finite, sums);
            column_sums_release(&of_b);
            bench_release(&bench);
        }
}
