/* test_family_lut.c - the operations of the lookup-table family and their host variants. */
#include "tests/kernels/bench.h"
#include "kernels/lut/lut.h"

#include "kernels/lut/mlp.h"

/* Every host variant that takes the shape; not one element is NEAR. */
static void expect_exact(struct assay_shape shape, const char *names)
{
    assert_int_equal(bench_all(shape, names), 0);
}

TEST(host_variants_are_exact_for_every_lattice_code_and_index)
{
    int shapes = 0;
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++)
        for (int code = 0; lut_code_names[code]; code++)
            for (int index = 0; index < LUT_FORMATS; index++)
                for (int scaled = 0; scaled < 2; scaled++) {
                    if (lattice == CODEBOOK_E8 && code == 3) continue; /* a 86 MB table */
                    struct assay_shape shape =
                        SHAPE("lut_matmul", 3, 37, 5, lattice, code, index, scaled);
                    bool table = !lut_table_unsupported(&shape);
                    bool decode = !scaled && !lut_decode_unsupported(&shape);
                    if (shape.operation->supports(&shape) || (!table && !decode)) continue;
                    expect_exact(shape, !table   ? "host_decode"
                                        : decode ? "host_scalar host_table host_decode"
                                                 : "host_scalar host_table");
                    shapes++;
                }
    assert_true(shapes > 100);
}

TEST(seed_sizes_are_exact)
{
    static const int64_t sizes[][3] = {
        {2, 16, 8}, {4, 32, 16}, {8, 64, 32}, {16, 128, 64}, {32, 256, 128}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *s = sizes[i];
        expect_exact(SHAPE("lut_matmul", s[0], s[1], s[2], CODEBOOK_E8, 0, LUT_INT8),
                     "host_scalar host_decode host_table");
    }
}

TEST(encoding_inverts_decoding_for_every_codeword)
{
    for (int q = 2; q <= 4; q++) {
        const struct codebook *codebook = codebook_get(CODEBOOK_E8, q);
        for (int64_t code = 0; code < codebook->count; code++) {
            float x[8];
            int point[8];
            for (int i = 0; i < 8; i++)
                x[i] = 0.5f * codebook->left[code * 8 + i];
            lut_closest_e8(x, point);
            assert_int_equal(lut_index_e8(point, q), code);
        }
    }
}

TEST(linear_layers_are_exact_on_the_host)
{
    for (int code = 0; lut_code_names[code]; code++) {
        expect_exact(SHAPE("quantized_linear", 5, 203, 7, CODEBOOK_E8, code, LUT_PACKED),
                     "host_scalar host_omp");
    }
}

TEST(several_layers_are_exact_on_the_host)
{
    for (int code = 0; lut_code_names[code]; code++)
        expect_exact(SHAPE("quantized_mlp", 3, 67, 3, code, code % 3), "host_scalar host_omp");
    for (int data = MLP_GAUSSIAN; data <= MLP_EXTREME; data++)
        expect_exact(SHAPE("quantized_mlp", 5, 64, 1, 0, data), "host_scalar host_omp");
}

/* X and W of one layer are those of quantized_linear, and so is C. */
TEST(one_layer_is_quantized_linear)
{
    enum { ROWS = 4, WIDTH = 72 };
    struct assay_shape shape = SHAPE("quantized_mlp", ROWS, WIDTH, 1, 4, MLP_GAUSSIAN);
    struct bench bench;
    bench_init(&bench, shape);
    struct mlp mlp = mlp_of(&shape);
    double c[ROWS * WIDTH], bound[ROWS * WIDTH], row[WIDTH];
    assert_int_equal(
        lut_quantized_linear.reference(&mlp.layer, bench.in, LINEAR_C, 0, ROWS * WIDTH, c, bound),
        0);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(mlp_row_exact(&mlp, bench.in, i, row), 0);
        assert_memory_equal(row, c + i * WIDTH, sizeof row);
    }
    bench_release(&bench);
}

/* With codes that keep a signal, C is near that of the network which is not quantised: the scales
 * between the layers are right, up to a factor. */
TEST(many_layers_keep_a_signal)
{
    enum { WIDTH = 128 };
    for (int data = MLP_GAUSSIAN; data <= MLP_UNIT_NORM; data++)
        for (int layers = 1; layers <= 8; layers *= 2) {
            struct bench bench;
            bench_init(&bench, SHAPE("quantized_mlp", 2, WIDTH, layers, 6, data));
            struct mlp mlp = mlp_of(&bench.shape);
            double exact[WIDTH], plain[WIDTH], error = 0, signal = 0;
            assert_int_equal(mlp_row_exact(&mlp, bench.in, 1, exact), 0);
            assert_int_equal(mlp_row_plain(&mlp, (const float *)bench.in[LINEAR_X] + WIDTH,
                                           bench.in[LINEAR_W], plain, NULL),
                             0);
            for (int i = 0; i < WIDTH; i++) {
                error += (exact[i] - plain[i]) * (exact[i] - plain[i]);
                signal += plain[i] * plain[i];
            }
            if (!(error < 0.3 * signal))
                fail_msg("data %d, %d layers: %g of the signal", data, layers, error / signal);
            bench_release(&bench);
        }
}

/* C of a layer by the reference; the caller frees it. */
static double *layer(const struct bench *bench)
{
    int64_t count = bench->buffers.spec[LINEAR_C].count;
    double *expected = calloc((size_t)count, sizeof *expected);
    double *bound = calloc((size_t)count, sizeof *bound);
    assert_int_equal(bench->shape.operation->reference(&bench->shape, bench->in, LINEAR_C, 0, count,
                                                       expected, bound),
                     0);
    free(bound);
    return expected;
}

TEST(activations_that_are_no_numbers_are_zeros_to_their_block_alone)
{
    static const float hard[] = {NAN, INFINITY, -INFINITY, 3e38f, 4e6f};
    struct bench bench;
    bench_init(&bench, SHAPE("quantized_linear", 3, 203, 7, CODEBOOK_E8, 1, LUT_PACKED, 0));
    float *x = bench.buffers.data[LINEAR_X];
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        memset(x + 203 + 40, 0, 8 * sizeof *x);
        double *zeros = layer(&bench);
        for (int at = 0; at < 8; at++)
            x[203 + 40 + at] = at == 3 ? hard[i] : 0.75f;
        double *lost = layer(&bench);
        assert_memory_equal(zeros, lost, 3 * 7 * sizeof *lost);
        free(lost);
        free(zeros);
    }
    bench_release(&bench);
}

static double metric_of(const struct bench *bench, const char *name)
{
    struct assay_metric metrics[ASSAY_MAX_METRICS];
    int count = linear_quality(&bench->shape, (const void *const *)bench->buffers.data, metrics);
    for (int i = 0; i < count; i++)
        if (strcmp(metrics[i].name, name) == 0) return metrics[i].value;
    return NAN;
}

/* The cells' error, 0.0717 beta^2 an entry, leaves of a signal of 1: 4.5 dB where beta is
 * 1 / 0.45, 16.5 where it is 1 / 1.8. With q = 2 nothing is left at any scale. */
TEST(activations_are_quantised_where_few_blocks_overload)
{
    static const struct {
        int code;
        double least_db, most_db, overload;
    } known[] = {{0, -12, 0, 0.07}, {1, -18, 0, 0.07},  {3, 9.5, 12, 0.003},
                 {4, 3, 5, 0.001},  {5, 16, 17, 0.001}, {6, 27.5, 29, 0.001}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bench bench;
        bench_init(&bench, SHAPE("quantized_linear", 24, 512, 96, CODEBOOK_E8, known[i].code,
                                 LUT_PACKED, 0));
        bench_run(&bench, bench_variant("quantized_linear", "host_omp"));
        double db = metric_of(&bench, "sqnr_db");
        assert_true(db > known[i].least_db && db < known[i].most_db);
        assert_true(metric_of(&bench, "overload_rate") < known[i].overload);
        bench_release(&bench);
    }
}

TEST(no_number_of_b_stays_in_its_column)
{
    struct bench bench;
    bench_init(&bench, SHAPE("lut_matmul_onesided", 5, 203, 7, CODEBOOK_E8, 1, LUT_PACKED, 0));
    ((float *)bench.buffers.data[LUT_B])[0] = -INFINITY; /* the fill puts more there */
    ((float *)bench.buffers.data[LUT_B])[2 * 203 + 100] = NAN;
    ((float *)bench.buffers.data[LUT_B])[4 * 203 + 202] = INFINITY;
    struct group group;
    bench_group(&group, bench.shape);
    bench_runs(&group, "host_omp");
    for (int i = 0; i < group.variant_count; i++) {
        if (group.skip[i][0]) continue;
        bench_launch(&bench, group.variant[i]);
        for (int at = 0; at < 5 * 7; at++) {
            bool finite = isfinite(((float *)bench.buffers.data[LUT_C])[at]);
            assert_int_equal(finite, at % 7 != 0 && at % 7 != 2 && at % 7 != 4);
        }
    }
    bench_release(&bench);
}

TEST(one_sided_products_are_within_their_bound)
{
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++) {
        expect_exact(SHAPE("lut_matmul_onesided", 5, 203, 7, lattice, 5, LUT_PACKED), "host_omp");
    }
}

TEST(products_are_c_before_it_is_divided)
{
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++) {
        struct bench bench;
        int32_t products[5 * 33];
        float c[5 * 33];
        bench_init(&bench, SHAPE("lut_matmul", 5, 200, 33, lattice, 3, LUT_PACKED, 0));
        struct lut_geometry geometry = lut_geometry(&bench.shape);
        assert_int_equal(lut_model_products(&bench.shape, bench.in, LUT_C, 0, 165, products), 0);
        assert_int_equal(lut_model(&bench.shape, bench.in, LUT_C, 0, 165, c), 0);
        for (int at = 0; at < 165; at++)
            assert_true((float)(products[at] >> lut_shift(geometry.divisor)) * geometry.unit ==
                        c[at]);
        int64_t expected[5] = {0};
        for (int at = 0; at < 165; at++)
            expected[at / 33] += products[at];
        assert_int_equal(lut_row_sum_error(&bench.shape, expected, products, 5), 0);
        products[77] -= 3; /* which dividing would hide */
        assert_int_equal(lut_row_sum_error(&bench.shape, expected, products, 5), 3);
        bench_release(&bench);
    }
}
