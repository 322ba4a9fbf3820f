/*
 * attention_fp8_host.c - attention_fp8 on the host, a query at a time: scores, their exponentials,
 * the weighted sum, all in fp32; on one core as one would write it, and on all.
 *
 * Operations: 4 d per pair. Bytes: k and v of a head once per query, from cache.
 */
#include <math.h>
#include <stdlib.h>

#include "attention_fp8.h"

static void decode_table(float table[256])
{
    for (int code = 0; code < 256; code++) {
        const uint8_t byte = (uint8_t)code;
        table[code] = (float)assay_load(ASSAY_E4M3, &byte, 0);
    }
}

/* Row `index` of y. `weight` has room for all keys. */
static void attend(const struct assay_call *call, const float table[256], int64_t index,
                   float *weight)
{
    const struct attention_fp8_query query = attention_fp8_query(call->shape, index);
    const uint8_t *qkv = call->buffer[AFP8_QKV];
    const float *scales = call->buffer[AFP8_SCALES];
    const float factor =
        scales[query.head] * scales[query.heads + query.head] / sqrtf((float)query.size);
    float q[AFP8_MAX_HEAD], sum[AFP8_MAX_HEAD] = {0}, peak = -INFINITY, total = 0;
    for (int64_t i = 0; i < query.size; i++)
        q[i] = factor * table[qkv[query.q + i]];
    for (int64_t j = 0; j < query.keys; j++) {
        const uint8_t *k = qkv + query.k + j * query.stride;
        float score = 0;
        for (int64_t i = 0; i < query.size; i++)
            score += q[i] * table[k[i]];
        weight[j] = score;
        peak = fmaxf(peak, score);
    }
    for (int64_t j = 0; j < query.keys; j++) {
        const uint8_t *v = qkv + query.v + j * query.stride;
        float p = expf(weight[j] - peak);
        total += p;
        for (int64_t i = 0; i < query.size; i++)
            sum[i] += p * table[v[i]];
    }
    float scale = scales[2 * query.heads + query.head] / total;
    for (int64_t i = 0; i < query.size; i++)
        assay_store(ASSAY_BF16, call->buffer[AFP8_Y], index * query.size + i,
                    (double)(sum[i] * scale));
}

static int64_t rows(const struct assay_shape *shape)
{
    return shape->value[AFP8_BATCH] * shape->value[AFP8_TOKENS] * shape->value[AFP8_HEADS];
}

static float *weights(const struct assay_shape *shape)
{
    return malloc((size_t)shape->value[AFP8_TOKENS] * sizeof(float));
}

static int scalar_launch(struct assay_call *call)
{
    float table[256], *weight = weights(call->shape);
    if (!weight) return assay_error("no memory for the weights of a query");
    decode_table(table);
    for (int64_t row = 0; row < rows(call->shape); row++)
        attend(call, table, row, weight);
    free(weight);
    return 0;
}

static int omp_launch(struct assay_call *call)
{
    int failed = 0;
    float table[256];
    decode_table(table);
#pragma omp parallel reduction(| : failed)
    {
        float *weight = weights(call->shape);
        failed |= weight == NULL;
        /* Long queries and short ones alternate, so pieces are handed out as asked for. */
#pragma omp for schedule(dynamic, 16)
        for (int64_t row = 0; row < rows(call->shape); row++)
            if (weight) attend(call, table, row, weight);
        free(weight);
    }
    return failed ? assay_error("no memory for the weights of a query") : 0;
}

static const struct assay_variant scalar = {
    .operation = "attention_fp8",
    .name = "host_scalar",
    .summary = "one query at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = scalar_launch,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant omp = {
    .operation = "attention_fp8",
    .name = "host_omp",
    .summary = "queries over all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = omp_launch,
};
ASSAY_REGISTER_VARIANT(omp);
