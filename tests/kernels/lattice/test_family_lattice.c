/*
 * test_family_lattice.c - the lattice family's operations and host variants, against the
 * reference, the models and what they refuse.
 */
#include "tests/kernels/bench.h"
#include "tests/kernels/lattice_shapes.h"

#include "kernels/lattice/adaptive.h"
#include "kernels/lattice/copy.h"

/* Every variant, of a shape that is taken. */
static void expect_right(struct assay_shape shape)
{
    if (shape.operation->supports(&shape)) return;
    bench_all(shape, "host_scalar host_omp");
}

TEST(host_variants_are_right_for_every_lattice_code_and_protection)
{
    EACH_CODE(lattice, code)
    for (int overload = 0; overload < 3; overload++)
        for (int data = 0; data < 3; data++) {
            expect_right(shape_of("lattice_encode", 16, 32, lattice, code, overload, 0, data));
            expect_right(shape_of("lattice_decode", 8, 64, lattice, code, overload, 0, 0));
            expect_right(shape_of("lattice_roundtrip", 8, 64, lattice, code, overload, 0, data));
        }
}

TEST(rows_that_no_block_divides_are_filled_up_with_zeros)
{
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int64_t columns = 1; columns < 20; columns += 3)
            for (int type = 0; type < 4; type++) {
                expect_right(
                    shape_of("lattice_encode", 3, columns, lattice, CODE_Q3M2, 1, type, 2));
                expect_right(
                    shape_of("lattice_encode", 3, columns, lattice, CODE_Q4M3, 0, type, 0));
                expect_right(
                    shape_of("lattice_decode", 3, columns, lattice, CODE_Q4M2, 1, type, 0));
                expect_right(
                    shape_of("lattice_roundtrip", 3, columns, lattice, CODE_Q2M1, 0, 0, 0));
            }
}

TEST(a_padded_block_has_the_code_of_its_entries_and_zeros)
{
    struct assay_shape cut = shape_of("lattice_encode", 1, 5, LATTICE_E8, CODE_Q4M2, 0, 0, 0);
    struct assay_shape full = shape_of("lattice_encode", 1, 8, LATTICE_E8, CODE_Q4M2, 0, 0, 0);
    float x[8] = {0.3f, -1.1f, 0.7f, 2.0f, -0.4f, 0, 0, 0};
    uint8_t a[4], b[4];
    const void *in[] = {x};
    assert_int_equal(lattice_model_encode(&cut, in, BUF_OUT, 0, 4, a), 0);
    assert_int_equal(lattice_model_encode(&full, in, BUF_OUT, 0, 4, b), 0);
    assert_memory_equal(a, b, 4);
}

TEST(rows_of_unit_norm_are_not_all_zeros)
{
    EACH_CODE(lattice, code)
    {
        struct bench bench;
        bench_init(&bench, shape_of("lattice_roundtrip", 8, 64, lattice, code, 0, 0, 1));
        bench_run(&bench, bench_variant("lattice_roundtrip", "host_omp"));
        const float *x = bench.buffers.data[BUF_IN], *y = bench.buffers.data[BUF_OUT];
        double norm = 0;
        int nonzero = 0;
        for (int i = 0; i < 512; i++) {
            nonzero += y[i] != 0;
            norm += (double)x[i] * (double)x[i];
        }
        assert_true(fabs(norm / 8.0 - 1.0) < 0.25);
        assert_true(nonzero > 8); /* one bit an entry leaves most at 0, as it should */
        bench_release(&bench);
    }
}

TEST(entries_that_are_no_numbers_lose_their_block_and_no_other)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e9f};
    EACH_CODE(lattice, code)
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_BLOCK);
        float x[8], y[8];
        int t;
        normal_block(job.d, job.sigma, 3, x);
        lattice_block_encode(&job, x, &t);
        assert_true(t <= LATTICE_T_MAX);
        x[job.d - 1] = bad[i];
        assert_true(lattice_block_encode(&job, x, &t) == 0);
        assert_int_equal(t, LATTICE_LOST);
        lattice_block_decode(&job, 0, t, y);
        for (int j = 0; j < job.d; j++)
            assert_true(y[j] == 0.0f);
        job.overload = OVERLOAD_OFF;
        assert_true(lattice_block_encode(&job, x, &t) == 0);
        assert_int_equal(t, 0);
    }
}

TEST(the_tensors_t_is_the_largest_of_its_blocks)
{
    struct assay_shape shape = shape_of("lattice_encode", 1, 64, LATTICE_E8, CODE_Q4M2, 2, 0, 0);
    struct lattice_job job = lattice_job(&shape);
    float x[64] = {0};
    x[20] = 40.0f / job.r;
    x[50] = 90.0f / job.r;
    x[63] = NAN;
    int t = lattice_tensor_t(&job, x);
    assert_in_range(t, 3, 4);
    float scaled[8] = {0};
    bool overload;
    scaled[2] = x[50];
    lattice_block_encode_at(&job, scaled, t, &overload);
    assert_false(overload);
    lattice_block_encode_at(&job, scaled, t - 1, &overload);
    assert_true(overload);
}

TEST(what_cannot_be_is_refused_with_the_reason)
{
    struct assay_shape shape = shape_of("lattice_encode", 8, 64, 3, 2, 0, 0, DATA_UNIT_NORM);
    assert_null(lattice_supports(&shape));
    shape.value[DIM_SCALING] = SCALING_OFF;
    assert_non_null(lattice_supports(&shape));
    shape = shape_of("lattice_encode", 4096, 4096, 3, 2, OVERLOAD_TENSOR, 0, 0);
    assert_non_null(lattice_supports(&shape));
    shape = shape_of("lattice_roundtrip", 8, 64, 3, 2, OVERLOAD_TENSOR, 0, 0);
    assert_non_null(lattice_supports(&shape));
}

/* Metrics of codes of `rows` x 4096 normal entries, in the order of quality.c. */
static void measure_quality(int64_t rows, int lattice, int code, int overload,
                            struct assay_metric metric[ASSAY_MAX_METRICS])
{
    struct bench bench;
    bench_init(&bench, shape_of("lattice_encode", rows, 4096, lattice, code, overload, 0, 0));
    bench_launch(&bench, bench_variant("lattice_encode", "host_omp"));
    int count = bench.shape.operation->quality(&bench.shape,
                                               (const void *const *)bench.buffers.data, metric);
    assert_int_equal(count, 6);
    bench_release(&bench);
}

TEST(quality_says_the_rate_and_the_size_of_the_codes)
{
    struct assay_metric metric[ASSAY_MAX_METRICS];
    measure_quality(16, LATTICE_E8, CODE_Q4M2, OVERLOAD_BLOCK, metric);
    assert_true(metric[2].value > 15.0);               /* sqnr_db */
    assert_true(metric[3].value < 0.01);               /* overload_rate */
    assert_true(metric[4].value == 5.0);               /* bits_per_entry: 4 and T's 1 */
    assert_true(metric[5].value == 16 * 4096 * 0.625); /* code_bytes */
}

/* The standard deviation of the ratio is 0.09 % or less with 2^20 entries. */
TEST(the_error_is_the_moment_of_the_cell_within_half_a_percent)
{
    static const int codes[] = {CODE_Q4M2, CODE_Q4M3};
    struct assay_metric metric[ASSAY_MAX_METRICS];
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int i = 0; i < 2; i++) {
            measure_quality(256, lattice, codes[i], OVERLOAD_OFF, metric);
            assert_true(fabs(metric[1].value - 1.0) < 0.005);
        }
}

TEST(the_error_is_in_units_of_the_doubled_beta)
{
    struct assay_metric metric[ASSAY_MAX_METRICS];
    measure_quality(16, LATTICE_Z2, CODE_Q4M2, OVERLOAD_TENSOR, metric);
    assert_true(metric[3].value > 0.01); /* so T is not 0 */
    assert_true(fabs(metric[1].value - 1.0) < 0.05);
    measure_quality(16, LATTICE_Z2, CODE_Q4M2, OVERLOAD_BLOCK, metric);
    assert_true(fabs(metric[1].value - 1.0) < 0.05);
}

TEST(a_scale_from_the_batch_is_right_on_the_host)
{
    EACH_CODE(lattice, code)
    bench_all(SHAPE("lattice_encode_adaptive", 3, 67, lattice, code, (lattice + code) % 3),
              "host_omp");
}

/* r times the standard deviation of the data, found in 8192 of them: within 4 deviations of what
 * that many say, 1 / sqrt(2 * 8192) each. Extreme values are one in 64, clipped at 8. */
TEST(the_batch_says_its_own_standard_deviation)
{
    const double sigma[] = {1.0, 1.0 / 16.0, 1.0};
    for (int data = DATA_GAUSSIAN; data <= DATA_EXTREME; data++) {
        struct bench bench;
        bench_init(&bench, SHAPE("lattice_encode_adaptive", 32, 256, LATTICE_E8, CODE_Q4M2, data));
        double ratio = (double)adaptive_job(&bench.shape).r;
        double found = (double)adaptive_job_of(&bench.shape, bench.in[BUF_IN]).r * sigma[data];
        if (data == DATA_EXTREME)
            assert_true(found < 0.9 * ratio && found > 0.6 * ratio);
        else
            assert_true(fabs(found / ratio - 1.0) < 4.0 / 128.0);
        bench_release(&bench);
    }
    const float zeros[8] = {0}, nans[8] = {NAN, -NAN};
    struct assay_shape shape = SHAPE("lattice_encode_adaptive", 1, 8, LATTICE_E8, CODE_Q4M2);
    assert_true(adaptive_job_of(&shape, zeros).r == adaptive_job(&shape).r);
    assert_true(adaptive_job_of(&shape, nans).r == adaptive_job(&shape).r);
}

TEST(copies_write_what_their_model_says)
{
    static const char *const operations[] = {"lattice_encode", "lattice_decode",
                                             "lattice_roundtrip"};
    static const char *const names[] = {"host_copy_encode", "host_copy_decode",
                                        "host_copy_roundtrip"};
    EACH_CODE(lattice, code)
    for (int i = 0; i < 6; i++) {
        assert_non_null(bench_variant(operations[i / 2], names[i / 2])->model);
        bench_all(shape_of(operations[i / 2], 8, 64, lattice, code, i % 2, 0, 0), names[i / 2]);
    }
}
