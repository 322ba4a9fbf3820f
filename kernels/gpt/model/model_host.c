/*
 * model_host.c - models on the host: in plain loops on one core, and on all cores with vectorised
 * dot products. See model_host.h.
 *
 * All arithmetic is in fp32. With bf16 and fp16, input and output are converted, and weights are
 * widened once, in setup; codes are decoded there. Decoding computes its context again. Operations:
 * those of the operation.
 */
#include <stdlib.h>

#include "model_codes.h"
#include "model_host.h"
#include "kernels/gpt/widest.h"

enum { COLUMNS = 64 };

struct host {
    struct model model;
    const float *from[ASSAY_MAX_BUFFERS]; /* weights as fp32; widened for bf16 and fp16 */
    float *widened[ASSAY_MAX_BUFFERS];
    float *x, *normed, *wide, *attended;
    float *weight; /* scores of one head: [rows][tokens] */
};

/* ------------------------------------------------------------------ setup -- */

static int allocate(struct assay_call *call, float **memory, int64_t count)
{
    *memory = malloc((size_t)count * sizeof **memory);
    if (!*memory) return assay_error("out of memory");
    call->workspace_bytes += count * (int64_t)sizeof **memory;
    return 0;
}

static int widen_weights(struct assay_call *call, struct host *host)
{
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    int count = call->shape->operation->buffers(call->shape, buffer);
    const int64_t precision = host->model.precision;
    for (int b = 0; b < count; b++) {
        host->from[b] = call->buffer[b];
        if (b == MODEL_IN || buffer[b].role != ASSAY_IN || gpt_bytes(precision) != 2 ||
            buffer[b].type != gpt_type(precision))
            continue;
        if (allocate(call, &host->widened[b], buffer[b].count) < 0) return -1;
        for (int64_t i = 0; i < buffer[b].count; i++)
            host->widened[b][i] = gpt_load(call->buffer[b], precision, i);
        host->from[b] = host->widened[b];
    }
    return 0;
}

/* The same, decoded. */
static int decode_weights(struct assay_call *call, struct host *host)
{
    const struct model *model = &host->model;
    for (int p = 0; model->codes && p < MODEL_CODE_PRODUCTS; p++) {
        const struct model_matrix matrix = model_matrix(model, (enum model_product)p);
        float **to = &host->widened[matrix.buffer];
        if (allocate(call, to, model->layers * matrix.n * matrix.k) < 0) return -1;
        if (model_decode_host(model, (const void *const *)call->buffer, (enum model_product)p, *to))
            return -1;
        host->from[matrix.buffer] = *to;
    }
    return 0;
}

int model_host_setup(struct assay_call *call)
{
    struct host *host = call->state = calloc(1, sizeof *host);
    if (!host) return assay_error("out of memory");
    const struct model model = host->model = model_of(call->shape);
    int64_t rows = model.rows, c = model.channels;
    if (model.vocabulary > 0 && gpt_check_ids(call->buffer[MODEL_IN], rows, model.vocabulary) < 0)
        return -1;
    if (widen_weights(call, host) < 0 || decode_weights(call, host) < 0) return -1;
    if (allocate(call, &host->x, rows * c) < 0 || allocate(call, &host->normed, rows * c) < 0 ||
        allocate(call, &host->attended, rows * c) < 0 ||
        allocate(call, &host->weight, rows * model.tokens) < 0)
        return -1;
    return allocate(call, &host->wide, rows * 4 * c);
}

void model_host_teardown(struct assay_call *call)
{
    struct host *host = call->state;
    if (!host) return;
    for (int b = 0; b < ASSAY_MAX_BUFFERS; b++)
        free(host->widened[b]);
    free(host->x);
    free(host->normed);
    free(host->wide);
    free(host->attended);
    free(host->weight);
    free(host);
}

/* ----------------------------------------------------------------- layers -- */

WIDEST static float dot(const float *a, const float *b, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void embed(const struct assay_call *call, const struct host *host)
{
    const struct model *model = &host->model;
    int64_t c = model->channels, count = model->rows * c;
    const void *in = call->buffer[MODEL_IN];
    const int32_t *ids = in;
    for (int64_t i = 0; i < count; i++)
        if (model->vocabulary > 0)
            host->x[i] = host->from[MODEL_WTE][ids[i / c] * c + i % c] +
                         host->from[MODEL_WPE][i % (model->tokens * c)];
        else
            host->x[i] = gpt_load(in, model->precision, i);
}

static void normalise(const struct host *host, int64_t row, int64_t norm, int64_t bias)
{
    int64_t c = host->model.channels;
    const float *x = host->x + row * c, *w = host->from[MODEL_SCALE] + norm * c;
    const float *b = host->from[MODEL_BIAS] + bias;
    float *y = host->normed + row * c, mean = 0, squares = 0;
    for (int64_t i = 0; i < c; i++)
        mean += x[i];
    mean /= (float)c;
    for (int64_t i = 0; i < c; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    float scale = 1.0f / sqrtf(squares / (float)c + GPT_LAYERNORM_EPSILON);
    for (int64_t i = 0; i < c; i++)
        y[i] = (x[i] - mean) * scale * w[i] + b[i];
}

/* All heads of one row. */
static void attend(const struct host *host, int64_t row)
{
    const struct model *model = &host->model;
    int64_t c = model->channels, size = model->size, token = row % model->tokens;
    const float *first = host->wide + (row - token) * 3 * c;
    float *weight = host->weight + row * model->tokens, scale = 1.0f / sqrtf((float)size);
    for (int64_t head = 0; head < model->heads; head++) {
        const float *q = first + token * 3 * c + head * size;
        float *y = host->attended + row * c + head * size, peak = -INFINITY, sum = 0;
        for (int64_t j = 0; j <= token; j++) {
            weight[j] = scale * dot(q, first + j * 3 * c + c + head * size, size);
            peak = fmaxf(peak, weight[j]);
        }
        for (int64_t j = 0; j <= token; j++)
            sum += weight[j] = expf(weight[j] - peak);
        for (int64_t i = 0; i < size; i++)
            y[i] = 0;
        for (int64_t j = 0; j <= token; j++) {
            const float *v = first + j * 3 * c + 2 * c + head * size;
            for (int64_t i = 0; i < size; i++)
                y[i] += weight[j] / sum * v[i];
        }
    }
}

static void activate(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float z = GPT_GELU_SCALE * (x[i] + GPT_GELU_CUBE * x[i] * x[i] * x[i]);
        x[i] = x[i] / (1.0f + expf(-2.0f * z));
    }
}

static void product_of(const struct host *host, model_host_product *product, int64_t layer,
                       enum model_product which, enum model_bias bias, const float *x, float *y)
{
    const struct model_matrix matrix = model_matrix(&host->model, which);
    product(x, host->from[matrix.buffer] + layer * matrix.n * matrix.k,
            host->from[MODEL_BIAS] + model_bias_at(&host->model, layer, bias), y, host->model.rows,
            matrix.n, matrix.k);
}

static void run_layer(const struct host *host, model_host_product *product, int64_t layer,
                      bool parallel)
{
    const struct model *model = &host->model;
    int64_t rows = model->rows, c = model->channels;
#pragma omp parallel for if (parallel)
    for (int64_t row = 0; row < rows; row++)
        normalise(host, row, 2 * layer, model_bias_at(model, layer, MODEL_BIAS_NORM1));
    product_of(host, product, layer, MODEL_P_QKV, MODEL_BIAS_QKV, host->normed, host->wide);
#pragma omp parallel for schedule(dynamic) if (parallel)
    for (int64_t row = 0; row < rows; row++)
        attend(host, row);
    product_of(host, product, layer, MODEL_P_PROJ, MODEL_BIAS_PROJ, host->attended, host->normed);
#pragma omp parallel for if (parallel)
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = row * c; i < (row + 1) * c; i++)
            host->x[i] += host->normed[i];
        normalise(host, row, 2 * layer + 1, model_bias_at(model, layer, MODEL_BIAS_NORM2));
    }
    product_of(host, product, layer, MODEL_P_FC, MODEL_BIAS_FC, host->normed, host->wide);
#pragma omp parallel for if (parallel)
    for (int64_t row = 0; row < rows; row++)
        activate(host->wide + row * 4 * c, 4 * c);
    product_of(host, product, layer, MODEL_P_FC2, MODEL_BIAS_FC2, host->wide, host->normed);
#pragma omp parallel for if (parallel)
    for (int64_t i = 0; i < rows * c; i++)
        host->x[i] += host->normed[i];
}

/* Write y: the rows of all tokens, or where decoding those of the last token of each sequence. */
static void finish(struct assay_call *call, const struct host *host, model_host_product *product)
{
    const struct model *model = &host->model;
    int64_t c = model->channels, step = model->decode ? model->tokens : 1;
    int64_t count = model->rows / step, width = model_width(model);
    float *y = host->normed;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = i * step + step - 1;
        if (model->vocabulary > 0)
            normalise(host, row, 2 * model->layers,
                      model_bias_at(model, model->layers, MODEL_BIAS_NORM1));
        const float *from = (model->vocabulary > 0 ? host->normed : host->x) + row * c;
        memmove(host->normed + i * c, from, (size_t)c * sizeof *from);
    }
    if (model->vocabulary == 0) {
        for (int64_t i = 0; i < count * width; i++)
            gpt_store(call->buffer[MODEL_Y], model->precision, i, y[i]);
        return;
    }
    /* In 16 bits each logit is converted at once, so that no fp32 copy of all of them is kept. */
    bool half = gpt_bytes(model->precision) == 2;
    if (!half) {
        product(host->normed, host->from[MODEL_HEAD], NULL, call->buffer[MODEL_Y], count, width, c);
        return;
    }
    for (int64_t row = 0; row < count; row++)
        for (int64_t i = 0; i < width; i++)
            gpt_store(call->buffer[MODEL_Y], model->precision, row * width + i,
                      dot(host->normed + row * c, host->from[MODEL_HEAD] + i * c, c));
}

int model_host_run(struct assay_call *call, model_host_product *product, bool parallel)
{
    const struct host *host = call->state;
    embed(call, host);
    for (int64_t layer = 0; layer < host->model.layers; layer++)
        run_layer(host, product, layer, parallel);
    finish(call, host, product);
    return 0;
}

/* --------------------------------------------------------------- variants -- */

static void scalar_product(const float *x, const float *w, const float *b, float *y, int64_t rows,
                           int64_t n, int64_t k)
{
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < n; column++) {
            float sum = b ? b[column] : 0;
            for (int64_t i = 0; i < k; i++)
                sum += x[row * k + i] * w[column * k + i];
            y[row * n + column] = sum;
        }
}

static void omp_product(const float *x, const float *w, const float *b, float *y, int64_t rows,
                        int64_t n, int64_t k)
{
    /* COLUMNS rows of w stay in cache while x goes by. */
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < n; first += COLUMNS) {
        int64_t last = first + COLUMNS < n ? first + COLUMNS : n;
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = first; column < last; column++)
                y[row * n + column] = dot(x + row * k, w + column * k, k) + (b ? b[column] : 0);
    }
}

static int scalar_launch(struct assay_call *call)
{
    return model_host_run(call, scalar_product, false);
}

static int omp_launch(struct assay_call *call)
{
    return model_host_run(call, omp_product, true);
}

#define HOST_VARIANTS(name_of_operation)                                                           \
    static const struct assay_variant scalar_##name_of_operation = {                               \
        .operation = #name_of_operation,                                                           \
        .name = "host_scalar",                                                                     \
        .summary = "plain loops on one core",                                                      \
        .kind = ASSAY_REFERENCE,                                                                   \
        .place = ASSAY_HOST,                                                                       \
        .setup = model_host_setup,                                                                 \
        .launch = scalar_launch,                                                                   \
        .teardown = model_host_teardown,                                                           \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(scalar_##name_of_operation);                                            \
    static const struct assay_variant omp_##name_of_operation = {                                  \
        .operation = #name_of_operation,                                                           \
        .name = "host_omp",                                                                        \
        .summary = "all cores, dot products in the widest vectors",                                \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_HOST,                                                                       \
        .setup = model_host_setup,                                                                 \
        .launch = omp_launch,                                                                      \
        .teardown = model_host_teardown,                                                           \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(omp_##name_of_operation)

HOST_VARIANTS(gpt_forward);
HOST_VARIANTS(gpt_block);
HOST_VARIANTS(gpt_decode);
HOST_VARIANTS(gpt_decode_codes);
