/*
 * test_family_gpt_layers.c - layernorm, gelu, embedding and residual_add on the
 * host: variants against the reference, and bounds that tell right from wrong.
 */
#include "tests/kernels/bench.h"
#include "kernels/gpt/gpt.h"

TEST(every_layernorm_is_right_on_rows_of_any_length)
{
    const int64_t sizes[][2] = {{1, 1}, {1, 7},   {3, 5},    {7, 1},    {5, 48},
                                {2, 3}, {33, 31}, {17, 257}, {64, 768}, {3, 8191}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t data = LAYERNORM_PLAIN; data <= LAYERNORM_SHIFTED; data++)
            for (int64_t adds = LAYERNORM_ALONE; adds <= LAYERNORM_ADD; adds++) {
                bench_all(SHAPE("layernorm", sizes[i][0], sizes[i][1], data, adds),
                          "host_scalar host_omp");
            }
}

/* Normalise all rows by a mean and variance in fp32; returns how many are wrong. */
static int64_t layernorm_wrong(int64_t rows, int64_t columns, int64_t data,
                               float (*variance)(const float *x, int64_t n, float mean))
{
    struct bench bench;
    bench_init(&bench, SHAPE("layernorm", rows, columns, data, LAYERNORM_ALONE));
    const float *weight = bench.buffers.data[LAYERNORM_WEIGHT],
                *bias = bench.buffers.data[LAYERNORM_BIAS];
    for (int64_t row = 0; row < rows; row++) {
        const float *x = (const float *)bench.buffers.data[LAYERNORM_X] + row * columns;
        float *y = (float *)bench.buffers.data[LAYERNORM_Y] + row * columns;
        float sum = 0;
        for (int64_t i = 0; i < columns; i++)
            sum += x[i];
        float mean = sum / (float)columns;
        float scale = 1 / sqrtf(fmaxf(variance(x, columns, mean), 0) + GPT_LAYERNORM_EPSILON);
        for (int64_t i = 0; i < columns; i++)
            y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
    }
    int64_t wrong = bench_judge(&bench).wrong;
    bench_release(&bench);
    return wrong;
}

static float about_the_mean(const float *x, int64_t n, float mean)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (float)n;
}

/* Sixteen partial sums, added in a tree, as a block of threads would. */
static float difference_of_squares(const float *x, int64_t n, float mean)
{
    float part[16] = {0};
    for (int64_t i = 0; i < n; i++)
        part[i % 16] += x[i] * x[i];
    for (int step = 8; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            part[i] += part[i + step];
    return part[0] / (float)n - mean * mean;
}

static float without_the_last(const float *x, int64_t n, float mean)
{
    return about_the_mean(x, n, mean) * (float)n / (float)(n - 1);
}

TEST(a_difference_of_squares_is_right_on_plain_data_and_wrong_on_shifted)
{
    const int64_t columns[] = {48, 128, 768, 4096};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int64_t rows = 65536 / columns[i], n = columns[i];
        assert_int_equal(layernorm_wrong(rows, n, LAYERNORM_PLAIN, difference_of_squares), 0);
        assert_true(layernorm_wrong(rows, n, LAYERNORM_SHIFTED, difference_of_squares) >
                    rows * n / 8);
    }
}

TEST(sums_from_first_to_last_are_right_even_on_shifted_data)
{
    const int64_t columns[] = {48, 768, 4096, 65536};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int64_t data = LAYERNORM_PLAIN; data <= LAYERNORM_SHIFTED; data++)
            assert_int_equal(layernorm_wrong(262144 / columns[i], columns[i], data, about_the_mean),
                             0);
}

TEST(a_variance_over_one_less_is_wrong)
{
    assert_true(layernorm_wrong(64, 768, LAYERNORM_PLAIN, without_the_last) > 64 * 768 / 2);
}

TEST(every_gelu_and_residual_is_right_at_odd_sizes)
{
    const int64_t sizes[] = {1, 2, 3, 5, 31, 33, 1009, 65537, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bench_all(SHAPE("gelu", sizes[i]), "host_scalar host_omp");
        bench_all(SHAPE("residual_add", sizes[i]), "host_scalar host_omp");
    }
}

TEST(gelu_by_the_error_function_is_wrong)
{
    struct bench bench;
    const int64_t n = 10007;
    bench_init(&bench, SHAPE("gelu", n));
    for (int64_t i = 0; i < n; i++) {
        double x = (double)((const float *)bench.buffers.data[GELU_X])[i];
        ((float *)bench.buffers.data[GELU_Y])[i] = (float)(0.5 * x * (1 + erf(x * sqrt(0.5))));
    }
    assert_true(bench_judge(&bench).wrong > n / 2);
    bench_release(&bench);
}

TEST(every_embedding_is_right_at_one_token_and_odd_channels)
{
    const int64_t shapes[][4] = {{1, 1, 1, 1}, {1, 1, 48, 100}, {3, 7, 5, 11}, {8, 128, 48, 50257}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        bench_all(SHAPE("embedding", shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3]),
                  "host_scalar host_omp");
}

TEST(an_id_outside_the_vocabulary_is_refused_before_the_launch)
{
    const int32_t outside[] = {-1, 11, INT32_MAX, INT32_MIN};
    struct group group;
    struct bench bench;
    bench_init(&bench, SHAPE("embedding", 3, 7, 5, 11));
    bench_group(&group, bench.shape);
    bench_runs(&group, "host_scalar host_omp");
    for (int v = 0; v < group.variant_count; v++) {
        if (group.skip[v][0]) continue;
        for (int i = 0; i < 4; i++) {
            ((int32_t *)bench.buffers.data[EMBEDDING_IDS])[20] = outside[i];
            struct assay_call call = bench_call(&bench);
            assert_int_equal(group.variant[v]->setup(&call), -1);
        }
    }
    bench_release(&bench);
}

TEST(embedding_counts_each_named_row_once)
{
    const struct assay_operation *operation = registry_operation("embedding");
    struct assay_shape one = {operation, {1, 1, 10, 100}};
    assert_true(fabs(operation->work(&one).read_bytes - (4 + 40 + 40)) < 1e-6);
    /* A thousand draws from ten rows name all ten. */
    struct assay_shape many = {operation, {10, 100, 10, 10}};
    assert_true(fabs(operation->work(&many).read_bytes - (4000 + 400 + 4000)) < 1e-6);
}
