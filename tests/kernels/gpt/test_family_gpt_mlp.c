/*
 * test_family_gpt_mlp.c - mlp on the host: variants against the reference, and bounds
 * that tell right from wrong.
 */
#include "tests/kernels/bench.h"
#include "kernels/gpt/gpt.h"

/* OpenBLAS has fp32 alone. */
static const char *host_names(int64_t precision)
{
#if ASSAY_HAVE_OPENBLAS
    if (precision == GPT_FP32) return "host_scalar host_omp openblas";
#endif
    return "host_scalar host_omp";
}

TEST(every_mlp_is_right_at_odd_shapes)
{
    const int64_t shapes[][2] = {{1, 1}, {1, 7}, {5, 3}, {3, 48}, {2, 129}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
            bench_all(SHAPE("mlp", shapes[i][0], shapes[i][1], precision), host_names(precision));
        }
}

/* The layer in double, with what is between passed through `round` and `activate`. */
static int64_t wrong_with(int64_t precision, double (*round)(double), double (*activate)(double))
{
    struct bench bench;
    const int64_t m = 4, c = 96;
    bench_init(&bench, SHAPE("mlp", m, c, precision));
    for (int64_t row = 0; row < m; row++) {
        double h[4 * 96];
        for (int64_t j = 0; j < 4 * c; j++) {
            double sum = (double)gpt_load(bench.buffers.data[MLP_B1], precision, j);
            for (int64_t i = 0; i < c; i++)
                sum += (double)gpt_load(bench.buffers.data[MLP_X], precision, row * c + i) *
                       (double)gpt_load(bench.buffers.data[MLP_W1], precision, j * c + i);
            h[j] = round(activate(round(sum)));
        }
        for (int64_t i = 0; i < c; i++) {
            double sum = (double)gpt_load(bench.buffers.data[MLP_B2], precision, i);
            for (int64_t j = 0; j < 4 * c; j++)
                sum +=
                    h[j] * (double)gpt_load(bench.buffers.data[MLP_W2], precision, i * 4 * c + j);
            gpt_store(bench.buffers.data[MLP_Y], precision, row * c + i, (float)sum);
        }
    }
    int64_t wrong = bench_judge(&bench).wrong;
    bench_release(&bench);
    return wrong;
}

static double keep(double value)
{
    return value;
}

static double to_bf16(double value)
{
    return (double)gpt_widen(gpt_narrow((float)value));
}

static double relu(double value)
{
    return fmax(value, 0);
}

TEST(what_is_between_may_be_rounded_in_bf16_alone)
{
    assert_int_equal(wrong_with(GPT_FP32, keep, gpt_gelu), 0);
    assert_int_equal(wrong_with(GPT_BF16, to_bf16, gpt_gelu), 0);
    assert_true(wrong_with(GPT_FP32, to_bf16, gpt_gelu) > 4 * 96 / 2);
}

TEST(another_activation_is_wrong_at_every_precision)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
        assert_true(wrong_with(precision, keep, keep) > 4 * 96 / 2);
        assert_true(wrong_with(precision, keep, relu) > 4 * 96 / 8);
    }
}
