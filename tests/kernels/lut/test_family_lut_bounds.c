/*
 * test_family_lut_bounds.c - products of codes: the bounds pass every order of a sum of floats and
 * nothing that has fewer bits or fewer terms, and row sums find a spoilt tile.
 */
#include "tests/kernels/arithmetics.h"
#include "kernels/lut/linear.h"
#include "kernels/lut/lut.h"
#include "kernels/lut/onesided.h"

enum { Q2M1 = 0, Q3M2 = 3, Q4M1 = 4, Q4M2 = 5 };

/* A row of codes as numbers, times the square root of what elements are multiplied by. */
static void decode(const struct bench *bench, int buffer, int64_t row, double *out)
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    const struct codebook *codebook = lut_codebook(&bench->shape);
    int64_t rows = buffer == LUT_A ? geometry.rows : geometry.columns;
    struct lut_codes codes = lut_codes(&geometry, bench->in[buffer], rows);
    const float *scale = bench->in[buffer == LUT_A ? LUT_SCALE_A : LUT_SCALE_B];
    for (int64_t block = 0; block < geometry.blocks; block++) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(codebook, &geometry, &codes, buffer == LUT_B, row, block, point);
        for (int i = 0; i < geometry.d; i++)
            out[block * geometry.d + i] =
                point[i] * sqrt((double)geometry.unit / geometry.divisor) *
                (geometry.scaled ? (double)scale[row * geometry.blocks + block] : 1);
    }
}

static double matmul_operands(const struct bench *bench, int64_t at, double *left, double *right)
{
    int64_t columns = bench->shape.value[LUT_COLUMNS];
    decode(bench, LUT_A, at / columns, left);
    decode(bench, LUT_B, at % columns, right);
    return 0;
}

static double onesided_operands(const struct bench *bench, int64_t at, double *left, double *right)
{
    const struct assay_shape *shape = &bench->shape;
    struct lut_geometry geometry = lut_geometry(shape);
    struct lut_codes codes = lut_codes(&geometry, bench->in[LUT_A], geometry.rows);
    const float *b = (const float *)bench->in[LUT_B] + at % geometry.columns * geometry.k;
    for (int64_t i = 0; i < geometry.k; i++) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(lut_codebook(shape), &geometry, &codes, false, at / geometry.columns,
                         i / geometry.d, point);
        left[i] = point[i % geometry.d] *
                  (double)onesided_step((int)shape->value[LUT_LATTICE], (int)(i % geometry.d));
        right[i] = (double)b[i];
    }
    return 0;
}

static const struct arithmetic right[] = {RIGHT_FP32, RIGHT_TENSOR};
static const struct arithmetic tf32 = {"tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL};
static const struct arithmetic dropped = {"last term dropped", as_it_is, sum_without_last, NULL,
                                          NULL};

TEST(every_order_of_a_sum_of_floats_passes)
{
    for (int64_t k = 64; k <= 4096; k *= 8)
        for (size_t i = 0; i < 4; i++) {
            int seeds = seeds_of(k < 4096 ? 40 : 3);
            struct emulated scaled = {"lut_matmul", "scaled", LUT_C, k, matmul_operands};
            assert_passes(SHAPE("lut_matmul", 4, k, 8, CODEBOOK_E8, Q4M1, LUT_PACKED, 1), &scaled,
                          &right[i], seeds);
        }
}

/* Where fp32 does not hold every sum: see lut_matmul.c. */
TEST(every_order_of_a_long_sum_of_whole_numbers_passes)
{
    struct emulated plain = {"lut_matmul", "off", LUT_C, 16384, matmul_operands};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_passes(SHAPE("lut_matmul", 2, 16384, 8, CODEBOOK_E8, Q4M2, LUT_PACKED, 0), &plain,
                      &right[i], seeds_of(3));
}

TEST(every_order_of_a_one_sided_sum_passes)
{
    for (size_t i = 0; i < 4; i++)
        for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++) {
            struct emulated onesided = {"lut_matmul_onesided", codebook_lattice_names[lattice],
                                        LUT_C, 512, onesided_operands};
            assert_passes(SHAPE("lut_matmul_onesided", 1025, 512, 2, lattice, Q3M2, LUT_PACKED),
                          &onesided, &right[i], 1);
        }
}

TEST(fewer_bits_and_fewer_terms_are_wrong)
{
    static const struct arithmetic *const wrong[] = {&tf32, &dropped};
    for (int64_t k = 512; k <= 4096; k *= 8)
        for (size_t i = 0; i < 2; i++) {
            struct emulated scaled = {"lut_matmul", "scaled", LUT_C, k, matmul_operands};
            assert_refused(SHAPE("lut_matmul", 8, k, 24, CODEBOOK_E8, Q4M2, LUT_PACKED, 1), &scaled,
                           wrong[i], 3);
        }
    for (size_t i = 0; i < 2; i++) {
        struct emulated onesided = {"lut_matmul_onesided", "E8", LUT_C, 512, onesided_operands};
        assert_refused(SHAPE("lut_matmul_onesided", 1025, 512, 2, CODEBOOK_E8, Q2M1, LUT_PACKED),
                       &onesided, wrong[i], 1);
    }
}

/* The row sums of a host variant's C, right as it is and wrong where a tile of it is 0. */
static void check_rows(struct assay_shape shape, const char *variant)
{
    struct bench bench;
    bench_init(&bench, shape);
    bench_run(&bench, bench_variant(shape.operation->name, variant));
    assert_true(worst_row_share(&bench, LUT_C) <= 0.5);
    float *c = (float *)bench.buffers.data[LUT_C] + 7 * shape.value[LUT_COLUMNS] + 16;
    memset(c, 0, 16 * sizeof *c);
    assert_true(worst_row_share(&bench, LUT_C) > 1);
    bench_release(&bench);
}

TEST(row_sums_find_a_spoilt_tile)
{
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++)
        for (int code = Q2M1; code <= Q4M2; code++)
            check_rows(SHAPE("lut_matmul", 19, 520, 64, lattice, code, LUT_PACKED, 0),
                       "host_decode");
    for (int lattice = 0; lattice < CODEBOOK_E8; lattice++)
        check_rows(SHAPE("lut_matmul", 19, 520, 64, lattice, Q2M1, LUT_PACKED, 1), "host_table");
    for (int code = Q2M1; code <= Q4M2; code++)
        check_rows(SHAPE("quantized_linear", 19, 520, 64, CODEBOOK_E8, code, LUT_PACKED, 0),
                   "host_omp");
    check_rows(SHAPE("lut_matmul_onesided", 1025, 72, 32, CODEBOOK_A2, Q3M2, LUT_PACKED),
               "host_omp");
}
