/*
 * test_family_product.c - the error of a sum of random terms stays as far below product.h's bound
 * as it says, whatever the order; half units; row sums by another route.
 */
#include "tests/kernels/arithmetics.h"
#include "kernels/product.h"

/* Uniform in [-1, 1) or, with drift, in [0, 1). */
static void fill(double *out, int64_t count, uint64_t seed, bool drifts)
{
    for (int64_t i = 0; i < count; i++) {
        double u = (double)(rng_mix(seed, (uint64_t)i) >> 40) * 0x1p-24;
        out[i] = drifts ? u : 2 * u - 1;
    }
}

/* The largest error of a sum as a share of its bound. */
static double worst(sum_order *order, enum product_unit unit, int64_t k, bool drifts, int seeds)
{
    double *a = malloc(2 * (size_t)k * sizeof *a), *b = a + k, most = 0;
    assert_non_null(a);
    for (int seed = 0; seed < seeds; seed++) {
        struct product_sum sum = {0};
        fill(a, k, 2 * (uint64_t)seed, drifts);
        fill(b, k, 2 * (uint64_t)seed + 1, drifts);
        for (int64_t i = 0; i < k; i++)
            product_add(&sum, a[i] * b[i]);
        double error = fabs(order(a, b, k, 0) - sum.value);
        most = fmax(most, error / product_bound(unit, (double)k, &sum));
    }
    free(a);
    return most;
}

TEST(errors_stay_below_half_of_their_bound)
{
    static const struct {
        sum_order *order;
        enum product_unit unit;
    } orders[] = {{sum_forwards, PRODUCT_FP32},       {sum_backwards, PRODUCT_FP32},
                  {sum_pairwise, PRODUCT_FP32},       {sum_blocks_of_4, PRODUCT_TENSOR},
                  {sum_blocks_of_16, PRODUCT_TENSOR}, {sum_split, PRODUCT_TENSOR},
                  {sum_forwards, PRODUCT_TENSOR},     {sum_worst_blocks, PRODUCT_TENSOR}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (int64_t k = 16; k <= 16384; k *= 4)
            for (int drifts = 0; drifts < 2; drifts++) {
                int seeds = seeds_of(k < 4096 ? 200 : 40);
                double most = worst(orders[i].order, orders[i].unit, k, drifts, seeds);
                if (getenv("MARGINS"))
                    printf("order %d, k = %5d, %s: %.3g\n", (int)i, (int)k,
                           drifts ? "drifts" : "      ", most);
                assert_true(most < 0.5);
            }
}

TEST(half_units_follow_the_type)
{
    assert_true(product_half_ulp(ASSAY_BF16, 1) == 0x1p-8);
    assert_true(product_half_ulp(ASSAY_BF16, -1.99) == 0x1p-8);
    assert_true(product_half_ulp(ASSAY_BF16, 2) == 0x1p-7);
    assert_true(product_half_ulp(ASSAY_F16, 1) == 0x1p-11);
    assert_true(product_half_ulp(ASSAY_F16, 0x1p-20) == 0x1p-25);
    assert_true(product_half_ulp(ASSAY_F32, 1) == 0x1p-24);
    assert_true(product_half_ulp(ASSAY_F16, 0) == 0x1p-25);
}

TEST(row_sums_are_those_of_the_elements)
{
    enum { ROWS = 3, COLUMNS = 5, DEPTH = 700 };
    static float left[ROWS * DEPTH], right[COLUMNS * DEPTH];
    static const double sign[COLUMNS] = {1, -1, -1, 1, -1};
    for (int i = 0; i < ROWS * DEPTH; i++)
        left[i] = (float)(i % 17 - 8);
    for (int i = 0; i < COLUMNS * DEPTH; i++)
        right[i] = (float)(i % 13 - 5);
    struct product_matrix x = {ASSAY_F32, left, DEPTH}, w = {ASSAY_F32, right, DEPTH};
    struct product product = product_of(&x, ROWS, &w, COLUMNS);
    double expected[ROWS], d2[ROWS];
    assert_int_equal(product_rows(&product, sign, expected, d2), 0);
    for (int row = 0; row < ROWS; row++) {
        double sum = 0, squares = 0;
        for (int column = 0; column < COLUMNS; column++) {
            struct product_sum element = {0};
            product_add_terms(&element, &product, row, column);
            sum += sign[column] * element.value;
            squares += element.squares;
        }
        assert_true(expected[row] == sum);
        assert_true(d2[row] >= 2 * squares);
    }
}
