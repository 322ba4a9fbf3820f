/*
 * test_family_gpt_layers_margin.c - the bounds of layernorm and gelu over many seeds: honest
 * arithmetic stays within half of them, and each mistake that kernels make is beyond them.
 */
#include "tests/kernels/margin.h"
#include "kernels/gpt/gpt.h"

enum { SEEDS = 40 };

/* -------------------------------------------------------------- layernorm -- */

/* How a row is normalised. */
struct norm {
    const char *name;
    bool right;
    int lanes; /* partial sums, which are added in a tree; 1: from first to last */
    float epsilon;
    bool outside;  /* of the root */
    bool squares;  /* variance as E[s^2] - mean^2 */
    int left_out;  /* last elements that the sums miss */
    int one_less;  /* taken off the count in the variance */
    bool no_shift; /* the mean is not subtracted */
};

static float sum_of(const float *value, int64_t count, int lanes)
{
    float part[32] = {0};
    for (int64_t i = 0; i < count; i++)
        part[i % lanes] += value[i];
    for (int step = lanes / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            part[i] += part[i + step];
    return part[0];
}

static void normalise(const struct norm *norm, const float *s, int64_t columns, const float *weight,
                      const float *bias, float *y)
{
    float *square = malloc((size_t)columns * sizeof *square);
    float count = (float)columns;
    assert_non_null(square);
    float mean = sum_of(s, columns - norm->left_out, norm->lanes) / count;
    for (int64_t i = 0; i < columns; i++)
        square[i] = norm->squares ? s[i] * s[i] : (s[i] - mean) * (s[i] - mean);
    float variance =
        sum_of(square, columns - norm->left_out, norm->lanes) / (count - (float)norm->one_less);
    if (norm->squares) variance = fmaxf(0, variance - mean * mean);
    float scale =
        norm->outside ? 1 / (sqrtf(variance) + norm->epsilon) : 1 / sqrtf(variance + norm->epsilon);
    for (int64_t i = 0; i < columns; i++)
        y[i] = (s[i] - (norm->no_shift ? 0 : mean)) * scale * weight[i] + bias[i];
    free(square);
}

static struct margin layernorm_by(struct bench *bench, const struct norm *norm)
{
    const int64_t *value = bench->shape.value;
    int64_t columns = value[LAYERNORM_COLUMNS];
    void *const *data = bench->buffers.data;
    const float *x = data[LAYERNORM_X], *r = data[LAYERNORM_R], *s = x;
    if (r) {
        for (int64_t i = 0; i < value[LAYERNORM_ROWS] * columns; i++)
            ((float *)data[LAYERNORM_SUM])[i] = x[i] + r[i];
        s = data[LAYERNORM_SUM];
    }
    for (int64_t row = 0; row < value[LAYERNORM_ROWS]; row++)
        normalise(norm, s + row * columns, columns, data[LAYERNORM_WEIGHT], data[LAYERNORM_BIAS],
                  (float *)data[LAYERNORM_Y] + row * columns);
    return margin_of(bench);
}

TEST(another_epsilon_is_wrong_and_another_order_is_right)
{
    static const struct norm norms[] = {
        {.name = "from first to last", .right = true, .lanes = 1, .epsilon = 1e-5f},
        {.name = "32 lanes", .right = true, .lanes = 32, .epsilon = 1e-5f},
        {.name = "difference of squares",
         .right = true,
         .lanes = 32,
         .epsilon = 1e-5f,
         .squares = true},
        {.name = "epsilon 0", .lanes = 32},
        {.name = "epsilon 1e-6", .lanes = 32, .epsilon = 1e-6f},
        {.name = "epsilon 9e-6", .lanes = 32, .epsilon = 9e-6f},
        {.name = "epsilon 1e-3", .lanes = 32, .epsilon = 1e-3f},
        {.name = "epsilon outside", .lanes = 32, .epsilon = 1e-5f, .outside = true},
        {.name = "last left out", .lanes = 32, .epsilon = 1e-5f, .left_out = 1},
        {.name = "over one less", .lanes = 32, .epsilon = 1e-5f, .one_less = 1},
        {.name = "mean not subtracted", .lanes = 32, .epsilon = 1e-5f, .no_shift = true},
    };
    const int64_t columns[] = {48, 768, 4096};
    for (size_t c = 0; c < 3; c++)
        for (int64_t kind = 0; kind < 3; kind++) /* plain, shifted, with a residual */
            for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
                struct bench bench;
                bench_init(&bench, SHAPE("layernorm", 16, columns[c], kind == 1, kind == 2));
                for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
                    const struct norm *norm = &norms[i];
                    if (norm->squares && kind == 1) continue; /* wrong there, as it should be */
                    struct margin margin = layernorm_by(&bench, norm);
                    margin_print(norm->name, margin);
                    if (norm->right)
                        assert_true(margin.wrong == 0 && margin.worst <= 0.5);
                    else
                        assert_true(margin.wrong > 0 && margin.worst >= 2);
                }
                bench_release(&bench);
            }
}

/* ------------------------------------------------------------------- gelu -- */

static float by_tanh(float x)
{
    return 0.5f * x * (1 + tanhf(GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x)));
}

static float by_exp(float x)
{
    return x / (1 + expf(-2 * GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x)));
}

/* __expf and __fdividef where they are off by all that they may: 2 units in the last place. */
static float by_fast_exp(float x)
{
    float z = GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x);
    return x / (1 + exp2f(-2 * z * 1.44269504f) * (1 + 0x1p-22f)) * (1 - 0x1p-22f);
}

static float by_erf(float x)
{
    return 0.5f * x * (1 + erff(x * 0.70710678f));
}

/* x sigmoid(1.702 x) */
static float by_sigmoid(float x)
{
    return x / (1 + expf(-1.702f * x));
}

/* tanh.approx.f32 is good to 2^-11. */
static float by_approximate_tanh(float x)
{
    float t = tanhf(GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x));
    return 0.5f * x * (1 + t * (1 + 0x1p-12f));
}

TEST(the_error_function_in_place_of_tanh_is_wrong)
{
    static const struct {
        const char *name;
        bool right;
        float (*gelu)(float);
    } ways[] = {{"tanhf", true, by_tanh},       {"expf", true, by_exp},
                {"__expf", true, by_fast_exp},  {"erff", false, by_erf},
                {"sigmoid", false, by_sigmoid}, {"tanh.approx", false, by_approximate_tanh}};
    for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
        struct bench bench;
        const int64_t n = 10007;
        bench_init(&bench, SHAPE("gelu", n));
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            for (int64_t i = 0; i < n; i++)
                ((float *)bench.buffers.data[GELU_Y])[i] =
                    ways[w].gelu(((const float *)bench.buffers.data[GELU_X])[i]);
            struct margin margin = margin_of(&bench);
            margin_print(ways[w].name, margin);
            if (ways[w].right)
                assert_true(margin.wrong == 0 && margin.worst <= 0.5);
            else
                assert_true(margin.wrong > n / 8 && margin.worst >= 2);
        }
        bench_release(&bench);
    }
}
