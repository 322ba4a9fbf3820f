/*
 * test_family_gpt_models_margin.c - the bounds of whole models over many seeds: a model computed
 * as kernels compute it, in each precision's arithmetic, stays within half of them, and with each
 * mistake that kernels make it is refused.
 */
#include "tests/kernels/margin.h"
#include "kernels/gpt/model/model_codes.h"
#include "tests/kernels/gpt/rounded.h"

enum { SEEDS = 40, NONE = -1 };

struct way {
    const char *name;
    bool right;
    enum operand products, attention; /* of weights; of scores and values */
    bool truncates;
    bool stores; /* what every layer writes is rounded to the model's type */
    /* Mistakes. */
    float epsilon; /* 0: 1e-5 */
    bool outside;  /* of the root */
    bool erf, sigmoid;
    int see;     /* keys behind the query that are let through; negative: left out */
    float scale; /* of the scores, beside the right one; 0: 1 */
    int dropped; /* a head, from 1 on */
    int lost;    /* a layer whose fc2 is left out, from 1 on */
    bool no_proj_bias;
    int64_t within; /* the noise of this precision and the coarser ones, and not found there */
    bool always;    /* found in one token from codes too, whatever the seed */
};

/* A model's inputs as fp32, and what its layers write. */
struct acted {
    struct model model;
    float *in[ASSAY_MAX_BUFFERS];
    float *x, *normed, *attended, *wide;
};

static float *floats(int64_t count)
{
    float *memory = malloc((size_t)count * sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static void acted_init(struct acted *acted, const struct bench *bench)
{
    memset(acted, 0, sizeof *acted);
    acted->model = model_of(&bench->shape);
    for (int b = 0; b < bench->buffers.count; b++) {
        if (bench->buffers.spec[b].role != ASSAY_IN) continue;
        acted->in[b] = floats(bench->buffers.spec[b].count);
        for (int64_t i = 0; i < bench->buffers.spec[b].count; i++)
            acted->in[b][i] = (float)assay_load(bench->buffers.spec[b].type, bench->in[b], i);
    }
    for (int p = 0; p < MODEL_CODE_PRODUCTS && acted->model.codes; p++) {
        const struct model_matrix matrix = model_matrix(&acted->model, (enum model_product)p);
        free(acted->in[matrix.buffer]);
        acted->in[matrix.buffer] = floats(acted->model.layers * matrix.n * matrix.k);
        assert_int_equal(model_decode_host(&acted->model, (const void *const *)bench->in,
                                           (enum model_product)p, acted->in[matrix.buffer]),
                         0);
    }
    int64_t count = acted->model.rows * acted->model.channels;
    acted->x = floats(count);
    acted->normed = floats(count);
    acted->attended = floats(count);
    acted->wide = floats(4 * count);
}

static void acted_release(struct acted *acted)
{
    for (int b = 0; b < ASSAY_MAX_BUFFERS; b++)
        free(acted->in[b]);
    free(acted->x);
    free(acted->normed);
    free(acted->attended);
    free(acted->wide);
}

static float stored(const struct acted *acted, const struct way *way, float value)
{
    int64_t precision = acted->model.precision;
    uint16_t half;
    if (gpt_bytes(precision) != 2 || !way->stores) return value;
    gpt_store(&half, precision, 0, value);
    return gpt_load(&half, precision, 0);
}

static void normalise(const struct acted *acted, const struct way *way, int64_t norm, int64_t bias)
{
    int64_t c = acted->model.channels;
    float epsilon = way->epsilon > 0 ? way->epsilon : GPT_LAYERNORM_EPSILON;
    for (int64_t row = 0; row < acted->model.rows; row++) {
        const float *x = acted->x + row * c;
        float mean = 0, squares = 0;
        for (int64_t i = 0; i < c; i++)
            mean += x[i];
        mean /= (float)c;
        for (int64_t i = 0; i < c; i++)
            squares += (x[i] - mean) * (x[i] - mean);
        float variance = squares / (float)c;
        float scale =
            way->outside ? 1 / (sqrtf(variance) + epsilon) : 1 / sqrtf(variance + epsilon);
        for (int64_t i = 0; i < c; i++)
            acted->normed[row * c + i] =
                stored(acted, way,
                       (x[i] - mean) * scale * acted->in[MODEL_SCALE][norm * c + i] +
                           acted->in[MODEL_BIAS][bias + i]);
    }
}

/* y [rows][n] = x [rows][k] w^T + b, of rows first, first + step, ... */
static void multiply(const struct acted *acted, const struct way *way, enum model_product product,
                     int64_t layer, int64_t bias, const float *x, float *y)
{
    const struct model_matrix matrix = model_matrix(&acted->model, product);
    const float *w = acted->in[matrix.buffer] + layer * matrix.n * matrix.k;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < acted->model.rows; row++)
        for (int64_t j = 0; j < matrix.n; j++) {
            float sum = dot(way->products, way->truncates, 0, x + row * matrix.k, w + j * matrix.k,
                            matrix.k, 1);
            sum = stored(acted, way, sum);
            if (bias != NONE) sum = stored(acted, way, sum + acted->in[MODEL_BIAS][bias + j]);
            y[row * matrix.n + j] = sum;
        }
}

static void attend(const struct acted *acted, const struct way *way, int64_t row, int64_t head)
{
    const struct model *model = &acted->model;
    int64_t c = model->channels, size = model->size, token = row % model->tokens;
    const float *first = acted->wide + (row - token) * 3 * c + head * size;
    float *y = acted->attended + row * c + head * size, peak = -INFINITY, total = 0;
    float weight[512], scale = (way->scale > 0 ? way->scale : 1) / sqrtf((float)size);
    int64_t keys = token + 1 + way->see;
    if (keys < 1) keys = 1;
    if (keys > model->tokens) keys = model->tokens;
    for (int64_t j = 0; j < keys; j++) {
        weight[j] = scale * dot(way->attention, way->truncates, 0, first + token * 3 * c,
                                first + j * 3 * c + c, size, 1);
        peak = fmaxf(peak, weight[j]);
    }
    for (int64_t j = 0; j < keys; j++) {
        total += weight[j] = expf(weight[j] - peak);
        weight[j] = stored(acted, way, weight[j]);
    }
    for (int64_t i = 0; i < size; i++) {
        float sum =
            dot(way->attention, way->truncates, 0, weight, first + 2 * c + i, keys, 3 * c) / total;
        y[i] = way->dropped == head + 1 ? 0 : stored(acted, way, sum);
    }
}

static float gelu(const struct way *way, float x)
{
    if (way->erf) return 0.5f * x * (1 + erff(x * 0.70710678f));
    if (way->sigmoid) return x / (1 + expf(-1.702f * x));
    return x / (1 + expf(-2 * GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x)));
}

static void add(const struct acted *acted, const struct way *way)
{
    for (int64_t i = 0; i < acted->model.rows * acted->model.channels; i++)
        acted->x[i] = stored(acted, way, acted->x[i] + acted->normed[i]);
}

static void run_layer(const struct acted *acted, const struct way *way, int64_t layer)
{
    const struct model *model = &acted->model;
    int64_t rows = model->rows, c = model->channels;
    int64_t bias = model_bias_at(model, layer, MODEL_BIAS_NORM1);
    normalise(acted, way, 2 * layer, bias);
    multiply(acted, way, MODEL_P_QKV, layer, bias + MODEL_BIAS_QKV * c, acted->normed, acted->wide);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t head = 0; head < model->heads; head++)
            attend(acted, way, row, head);
    multiply(acted, way, MODEL_P_PROJ, layer, way->no_proj_bias ? NONE : bias + MODEL_BIAS_PROJ * c,
             acted->attended, acted->normed);
    add(acted, way);
    normalise(acted, way, 2 * layer + 1, bias + MODEL_BIAS_NORM2 * c);
    multiply(acted, way, MODEL_P_FC, layer, bias + MODEL_BIAS_FC * c, acted->normed, acted->wide);
    for (int64_t i = 0; i < rows * 4 * c; i++)
        acted->wide[i] = stored(acted, way, gelu(way, acted->wide[i]));
    multiply(acted, way, MODEL_P_FC2, layer, bias + MODEL_BIAS_FC2 * c, acted->wide, acted->normed);
    if (way->lost != layer + 1) add(acted, way);
}

static void embed(const struct acted *acted, const struct way *way)
{
    const struct model *model = &acted->model;
    int64_t c = model->channels;
    for (int64_t i = 0; i < model->rows * c; i++) {
        float value = acted->in[MODEL_IN][i / (model->vocabulary > 0 ? c : 1)];
        if (model->vocabulary > 0)
            value = acted->in[MODEL_WTE][(int64_t)value * c + i % c] +
                    acted->in[MODEL_WPE][i % (model->tokens * c)];
        acted->x[i] = stored(acted, way, value);
    }
}

/* The model's answer into the bench's buffer, and how near it is. */
static struct margin act_out(struct bench *bench, const struct acted *acted, const struct way *way)
{
    const struct model *model = &acted->model;
    int64_t width = model_width(model), step = model->decode ? model->tokens : 1;
    const float *y = acted->x;
    float *logits = NULL;
    embed(acted, way);
    for (int64_t layer = 0; layer < model->layers; layer++)
        run_layer(acted, way, layer);
    if (model->vocabulary > 0) {
        normalise(acted, way, 2 * model->layers,
                  model_bias_at(model, model->layers, MODEL_BIAS_NORM1));
        y = logits = floats(model->rows * width);
        multiply(acted, way, MODEL_P_HEAD, 0, NONE, acted->normed, logits);
    }
    for (int64_t row = 0; row < model->rows / step; row++)
        for (int64_t i = 0; i < width; i++)
            assay_store(bench->buffers.spec[MODEL_Y].type, bench->buffers.data[MODEL_Y],
                        row * width + i, (double)y[(row * step + step - 1) * width + i]);
    free(logits);
    return margin_of(bench);
}

/* ------------------------------------------------------------------ tests -- */

/* Right ways of each precision, and what mistakes are made in. */
static const struct way fp32_ways[] = {
    {.name = "fp32", .right = true},
    {.name = "fp32: products in tf32", .products = NEAREST_TF32},
    {.name = "fp32: attention in tf32", .attention = NEAREST_TF32},
    {NULL},
};
static const struct way tf32_ways[] = {
    {.name = "tf32, nearest", .right = true, .products = NEAREST_TF32, .attention = NEAREST_TF32},
    {.name = "tf32, attention in fp32", .right = true, .products = NEAREST_TF32},
    {.name = "tf32, truncated",
     .right = true,
     .products = TRUNCATED_TF32,
     .attention = TRUNCATED_TF32,
     .truncates = true},
    {.name = "tf32: products in bf16", .products = NEAREST_BF16, .attention = NEAREST_BF16},
    {NULL},
};
static const struct way bf16_ways[] = {
    {.name = "bf16, stored by every layer", .right = true, .stores = true, .truncates = true},
    {.name = "bf16, fused", .right = true},
    {NULL},
};
static const struct way fp16_ways[] = {
    {.name = "fp16, stored by every layer", .right = true, .stores = true, .truncates = true},
    {.name = "fp16, fused", .right = true},
    {.name = "fp16: products in bf16", .products = NEAREST_BF16, .attention = NEAREST_BF16},
    {NULL},
};
static const struct way *const ways[] = {fp32_ways, tf32_ways, bf16_ways, fp16_ways};

static const struct way mistakes[] = {
    {.name = "epsilon 1e-6", .epsilon = 1e-6f},
    {.name = "epsilon 1e-3", .epsilon = 1e-3f},
    {.name = "epsilon outside", .outside = true},
    {.name = "gelu by erf", .erf = true, .within = GPT_TF32},
    {.name = "gelu by sigmoid", .sigmoid = true, .within = GPT_BF16},
    {.name = "a key too many", .see = 1},
    {.name = "the last key left out", .see = -1},
    {.name = "scores 1 % too large", .scale = 1.01f, .within = GPT_TF32},
    {.name = "a head dropped", .dropped = 1, .always = true},
    {.name = "a layer's fc2 left out", .lost = 2, .always = true},
    {.name = "no bias of proj", .no_proj_bias = true, .always = true},
    {NULL},
};

/* A mistake in the precision's own arithmetic. */
static struct way mistaken(const struct way *mistake, const struct way *right)
{
    struct way way = *mistake;
    way.products = right->products;
    way.attention = right->attention;
    way.truncates = right->truncates;
    way.stores = right->stores;
    return way;
}

static void judge(struct bench *bench, const struct acted *acted, const struct way *way,
                  const char *prefix)
{
    char name[96];
    struct margin margin = act_out(bench, acted, way);
    snprintf(name, sizeof name, "%s %s", prefix, way->name);
    margin_print(name, margin);
    bool refused = bench_judge(bench).reason[0] != 0;
    if (way->right && (refused || margin.worst > 0.5)) fail_msg("%s is refused", name);
    bool hidden = way->within > 0 && acted->model.precision >= way->within;
    if (!way->right && !hidden && !refused) fail_msg("%s is not refused", name);
}

static void judge_all(struct assay_shape shape)
{
    static const char *const prefix[] = {"fp32", "tf32", "bf16", "fp16"};
    int64_t precision = model_of(&shape).precision;
    struct bench bench;
    struct acted acted;
    bench_init(&bench, shape);
    acted_init(&acted, &bench);
    for (const struct way *way = ways[precision]; way->name; way++)
        judge(&bench, &acted, way, prefix[precision]);
    for (const struct way *mistake = mistakes; mistake->name; mistake++) {
        if (acted.model.codes && !mistake->always) continue;
        struct way way = mistaken(mistake, ways[precision]);
        judge(&bench, &acted, &way, prefix[precision]);
    }
    acted_release(&acted);
    bench_release(&bench);
}

TEST(every_mistake_in_a_forward_is_refused)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
        for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++)
            judge_all(SHAPE("gpt_forward", 2, 32, 2, 24, precision, 3, 0));
    bench_seed = 1;
}

/* One token of few sequences shows less than all tokens do: a wrong epsilon or mask is refused with
 * most seeds. */
TEST(a_token_from_codes_is_right_and_without_a_head_a_product_or_a_bias_refused)
{
    for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++)
        judge_all(SHAPE("gpt_decode_codes", 2, 32, 4, 23, 0, 3));
    bench_seed = 1;
}

/* Of each sequence of the suites' small models: one that is not checked may be anything. */
TEST(every_sequence_of_a_small_model_is_checked)
{
    /* heads, channels, batch, tokens, type, layers, vocabulary */
    static const int64_t forward[][7] = {
        {3, 48, 8, 128, GPT_TF32, 3, 0},   {4, 128, 8, 128, GPT_TF32, 4, 0},
        {6, 192, 8, 128, GPT_TF32, 6, 0},  {4, 64, 8, 128, GPT_TF32, 4, 0},
        {4, 128, 8, 128, GPT_TF32, 6, 0},  {8, 256, 8, 128, GPT_TF32, 8, 0},
        {4, 128, 8, 128, GPT_TF32, 6, 100}};
    for (size_t i = 0; i < sizeof forward / sizeof *forward; i++) {
        struct assay_shape shape = SHAPE("gpt_forward", 0);
        memcpy(shape.value, forward[i], sizeof forward[i]);
        double elements = (double)(8 * shape.operation->reference_run(&shape));
        assert_true(shape.operation->reference_cost(&shape) * elements <= ASSAY_CHECK_BUDGET);
    }
}

int main(int argc, char **argv)
{
    /* MARGINS=1 test heads channels batch tokens layers vocabulary [decode]: by hand, any shape. */
    if (argc > 6) {
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
            judge_all(SHAPE(argc > 7 ? "gpt_decode" : "gpt_forward", atoi(argv[1]), atoi(argv[2]),
                            atoi(argv[3]), atoi(argv[4]), precision, atoi(argv[5]), atoi(argv[6])));
        return 0;
    }
    return test_main(NULL, NULL);
}
