/*
 * attention_host.c - attention on the host, a query at a time: scores, their
 * exponentials, the weighted sum; on one core as one would write it, and on all.
 *
 * Operations: 4 d per pair. Bytes: k and v of a head once per query, from cache.
 */
#include <stdlib.h>

#include "kernels/gpt/gpt.h"

/* One query's row of y; `weight` has room for `token` + 1. */
static void attend(const struct assay_call *call, int64_t batch, int64_t token, int64_t head,
                   float *weight)
{
    const int64_t *value = call->shape->value;
    int64_t heads = value[ATTENTION_HEADS], tokens = value[ATTENTION_TOKENS];
    int64_t size = value[ATTENTION_HEAD_SIZE], precision = value[ATTENTION_PRECISION];
    int64_t stride = 3 * heads * size, first = batch * tokens * stride + head * size;
    const void *qkv = call->buffer[ATTENTION_QKV];
    float scale = 1.0f / sqrtf((float)size), peak = -INFINITY, total = 0;
    float q[256], sum[256] = {0};
    for (int64_t i = 0; i < size; i++)
        q[i] = scale * gpt_load(qkv, precision, first + token * stride + i);
    for (int64_t j = 0; j <= token; j++) {
        int64_t k = first + j * stride + heads * size;
        float score = 0;
        for (int64_t i = 0; i < size; i++)
            score += q[i] * gpt_load(qkv, precision, k + i);
        weight[j] = score;
        peak = fmaxf(peak, score);
    }
    for (int64_t j = 0; j <= token; j++) {
        int64_t v = first + j * stride + 2 * heads * size;
        float p = expf(weight[j] - peak);
        total += p;
        for (int64_t i = 0; i < size; i++)
            sum[i] += p * gpt_load(qkv, precision, v + i);
    }
    int64_t y = ((batch * tokens + token) * heads + head) * size;
    for (int64_t i = 0; i < size; i++)
        gpt_store(call->buffer[ATTENTION_Y], precision, y + i, sum[i] / total);
}

static int scalar_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    for (int64_t batch = 0; batch < value[ATTENTION_BATCH]; batch++)
        for (int64_t head = 0; head < value[ATTENTION_HEADS]; head++)
            for (int64_t token = 0; token < value[ATTENTION_TOKENS]; token++)
                attend(call, batch, token, head, call->state);
    return 0;
}

static int omp_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t tokens = value[ATTENTION_TOKENS], heads = value[ATTENTION_HEADS];
    int64_t rows = value[ATTENTION_BATCH] * heads * tokens;
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        float *weight = malloc((size_t)tokens * sizeof *weight);
        failed |= weight == NULL;
        /* Long queries and short ones alternate, so pieces are handed out as asked for. */
#pragma omp for schedule(dynamic, 16)
        for (int64_t row = 0; row < rows; row++)
            if (weight)
                attend(call, row / tokens / heads, row % tokens, row / tokens % heads, weight);
        free(weight);
    }
    return failed ? assay_error("no memory for the weights of a query") : 0;
}

static int scalar_setup(struct assay_call *call)
{
    size_t bytes = (size_t)call->shape->value[ATTENTION_TOKENS] * sizeof(float);
    call->state = malloc(bytes);
    if (!call->state) return assay_error("no memory for the weights of a query");
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static void scalar_teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant scalar = {
    .operation = "attention",
    .name = "host_scalar",
    .summary = "one query at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .setup = scalar_setup,
    .launch = scalar_launch,
    .teardown = scalar_teardown,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant omp = {
    .operation = "attention",
    .name = "host_omp",
    .summary = "queries over all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = omp_launch,
};
ASSAY_REGISTER_VARIANT(omp);
