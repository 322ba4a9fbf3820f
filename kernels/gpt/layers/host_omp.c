/*
 * host_omp.c - the layers that are limited by memory, on all cores and with vector instructions.
 *
 * layernorm sums in fp32, in as many partial sums as the compiler's vectors have lanes. gelu is x /
 * (1 + exp(-2 z)), with one expf per element. Bytes and operations: those of each operation.
 */
#include "kernels/gpt/gpt.h"
#include "kernels/gpt/widest.h"

enum { CHUNK = 1 << 15 };

/* ------------------------------------------------------------- layernorm -- */

WIDEST static float row_sum(const float *x, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

WIDEST static float row_squares(const float *x, int64_t n, float mean)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

WIDEST static void row_write(float *restrict y, const float *restrict x,
                             const float *restrict weight, const float *restrict bias, int64_t n,
                             float mean, float scale)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

WIDEST static void add(float *restrict y, const float *restrict a, const float *restrict b,
                       int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static int layernorm_launch(struct assay_call *call)
{
    int64_t rows = call->shape->value[LAYERNORM_ROWS];
    int64_t columns = call->shape->value[LAYERNORM_COLUMNS];
    bool adds = call->shape->value[LAYERNORM_RESIDUAL] == LAYERNORM_ADD;
#pragma omp parallel for schedule(static) if (rows * columns > CHUNK)
    for (int64_t row = 0; row < rows; row++) {
        int64_t at = row * columns;
        const float *in = (const float *)call->buffer[LAYERNORM_X] + at;
        if (adds) {
            float *sum = (float *)call->buffer[LAYERNORM_SUM] + at;
            add(sum, in, (const float *)call->buffer[LAYERNORM_R] + at, columns);
            in = sum;
        }
        float mean = row_sum(in, columns) / (float)columns;
        float variance = row_squares(in, columns, mean) / (float)columns;
        row_write((float *)call->buffer[LAYERNORM_Y] + at, in, call->buffer[LAYERNORM_WEIGHT],
                  call->buffer[LAYERNORM_BIAS], columns, mean,
                  1.0f / sqrtf(variance + GPT_LAYERNORM_EPSILON));
    }
    return 0;
}

/* ------------------------------------------------------------- pointwise -- */

static int gelu_launch(struct assay_call *call)
{
    int64_t n = call->shape->value[GELU_N];
    const float *x = call->buffer[GELU_X];
    float *y = call->buffer[GELU_Y];
#pragma omp parallel for simd schedule(static) if (n > CHUNK)
    for (int64_t i = 0; i < n; i++) {
        float z = GPT_GELU_SCALE * (x[i] + GPT_GELU_CUBE * x[i] * x[i] * x[i]);
        y[i] = x[i] / (1.0f + expf(-2.0f * z));
    }
    return 0;
}

static int residual_launch(struct assay_call *call)
{
    int64_t n = call->shape->value[RESIDUAL_N];
    const float *a = call->buffer[RESIDUAL_A], *b = call->buffer[RESIDUAL_B];
    float *y = call->buffer[RESIDUAL_Y];
#pragma omp parallel for schedule(static) if (n > CHUNK)
    for (int64_t i = 0; i < n; i += CHUNK)
        add(y + i, a + i, b + i, i + CHUNK < n ? CHUNK : n - i);
    return 0;
}

/* ------------------------------------------------------------- embedding -- */

static int embedding_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t channels = value[EMBEDDING_CHANNELS], tokens = value[EMBEDDING_TOKENS];
    int64_t rows = value[EMBEDDING_BATCH] * tokens;
    const int32_t *ids = call->buffer[EMBEDDING_IDS];
    const float *wte = call->buffer[EMBEDDING_WTE], *wpe = call->buffer[EMBEDDING_WPE];
    float *y = call->buffer[EMBEDDING_Y];
#pragma omp parallel for schedule(static) if (rows * channels > CHUNK)
    for (int64_t row = 0; row < rows; row++)
        add(y + row * channels, wte + ids[row] * channels, wpe + row % tokens * channels, channels);
    return 0;
}

/* -------------------------------------------------------------- variants -- */

static const struct assay_variant layernorm = {
    .operation = "layernorm",
    .name = "host_omp",
    .summary = "one row per core, widest vectors, two passes over the cached row",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = layernorm_launch,
};
ASSAY_REGISTER_VARIANT(layernorm);

static const struct assay_variant gelu = {
    .operation = "gelu",
    .name = "host_omp",
    .summary = "all cores, x / (1 + exp(-2 z))",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = gelu_launch,
};
ASSAY_REGISTER_VARIANT(gelu);

static const struct assay_variant residual_add = {
    .operation = "residual_add",
    .name = "host_omp",
    .summary = "all cores, widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = residual_launch,
};
ASSAY_REGISTER_VARIANT(residual_add);

static const struct assay_variant embedding = {
    .operation = "embedding",
    .name = "host_omp",
    .summary = "one row per core, widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .setup = gpt_check_host_ids,
    .launch = embedding_launch,
};
ASSAY_REGISTER_VARIANT(embedding);
