/*
 * host.c - attention_backward on the host, a token at a time: its row of dq over the keys up to
 * it, its rows of dk and dv over the queries from it on; on one core and on all.
 *
 * Operations: 16 d per pair, since each pair is weighed for its query and for its key, and delta
 * with it. Bytes: every row of a head once per token, from cache.
 */
#include "backward.h"

struct rows {
    struct backward_line line;
    const void *qkv, *y, *dy;
    const float *lse;
};

static float dot(const struct rows *rows, const void *a, int64_t from_a, const void *b,
                 int64_t from_b)
{
    float sum = 0;
    for (int64_t i = 0; i < rows->line.size; i++)
        sum += gpt_load(a, rows->line.precision, from_a + i) *
               gpt_load(b, rows->line.precision, from_b + i);
    return sum;
}

static void add(const struct rows *rows, float *sum, float weight, const void *from, int64_t first)
{
    for (int64_t i = 0; i < rows->line.size; i++)
        sum[i] += weight * gpt_load(from, rows->line.precision, first + i);
}

/* The weight of a pair, and the gradient of its score. */
static float weigh(const struct rows *rows, int64_t query, int64_t key, float *ds)
{
    const struct backward_line *line = &rows->line;
    int64_t q = line->q + query * line->stride, dy = line->y + query * line->stride_y;
    int64_t k = line->q + key * line->stride + line->stride_y, v = k + line->stride_y;
    float s = dot(rows, rows->qkv, q, rows->qkv, k) / sqrtf((float)line->size);
    float p = expf(s - rows->lse[line->lse + query]);
    *ds = p * (dot(rows, rows->dy, dy, rows->qkv, v) - dot(rows, rows->dy, dy, rows->y, dy));
    return p;
}

static void store(const struct rows *rows, void *to, int64_t first, const float *sum, float scale)
{
    for (int64_t i = 0; i < rows->line.size; i++)
        gpt_store(to, rows->line.precision, first + i, scale * sum[i]);
}

/* The gradients of token `row` % tokens of head `row` / tokens. */
static void differentiate(const struct assay_call *call, int64_t row)
{
    int64_t tokens = call->shape->value[ATTENTION_TOKENS], token = row % tokens;
    const struct rows rows = {backward_line_of(call->shape, row / tokens),
                              call->buffer[BACKWARD_QKV], call->buffer[BACKWARD_Y],
                              call->buffer[BACKWARD_DY], call->buffer[BACKWARD_LSE]};
    const struct backward_line *line = &rows.line;
    float dq[BACKWARD_MAX_HEAD] = {0}, dk[BACKWARD_MAX_HEAD] = {0}, dv[BACKWARD_MAX_HEAD] = {0};
    float scale = 1.0f / sqrtf((float)line->size), ds;
    for (int64_t key = 0; key <= token; key++) {
        weigh(&rows, token, key, &ds);
        add(&rows, dq, ds, rows.qkv, line->q + key * line->stride + line->stride_y);
    }
    for (int64_t query = token; query < tokens; query++) {
        float p = weigh(&rows, query, token, &ds);
        add(&rows, dk, ds, rows.qkv, line->q + query * line->stride);
        add(&rows, dv, p, rows.dy, line->y + query * line->stride_y);
    }
    int64_t to = line->q + token * line->stride;
    store(&rows, call->buffer[BACKWARD_DQKV], to, dq, scale);
    store(&rows, call->buffer[BACKWARD_DQKV], to + line->stride_y, dk, scale);
    store(&rows, call->buffer[BACKWARD_DQKV], to + 2 * line->stride_y, dv, 1);
}

static int64_t rows_of(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return value[ATTENTION_BATCH] * value[ATTENTION_HEADS] * value[ATTENTION_TOKENS];
}

static int scalar_launch(struct assay_call *call)
{
    for (int64_t row = 0; row < rows_of(call); row++)
        differentiate(call, row);
    return 0;
}

static int omp_launch(struct assay_call *call)
{
    int64_t rows = rows_of(call);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t row = 0; row < rows; row++)
        differentiate(call, row);
    return 0;
}

static const struct assay_variant scalar = {
    .operation = "attention_backward",
    .name = "host_scalar",
    .summary = "one token at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = scalar_launch,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant omp = {
    .operation = "attention_backward",
    .name = "host_omp",
    .summary = "tokens over all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = omp_launch,
};
ASSAY_REGISTER_VARIANT(omp);
