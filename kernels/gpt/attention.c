/*
 * attention.c - operation attention, causal:
 *
 *   y[i] = sum over j <= i of p[i, j] v[j],
 *   p[i, j] = exp(s[i, j]) / sum over j' <= i of exp(s[i, j']), s[i, j] = q[i] . k[j] / sqrt(d)
 *
 * for each sequence and head, d the head size. q, k and v are one buffer, [batch, tokens, 3,
 * heads, d], as the layer before writes them; y is [batch, tokens, heads, d].
 *
 * Operations: 4 d for each pair j <= i, which is half of the square and a half diagonal;
 * variants that compute the whole square do twice that. Bytes: q, k, v and y once.
 *
 * How far may a right answer be off? A score's sum and scaling are off by D = (d + 8)
 * u (|q| . |k|) / sqrt(d) (the 8 for the product with log2(e) and the exponential),
 * taken at the row's largest. That is a relative error of each exponential, and once
 * more of their sum. With P = sum p |v| the answer is off by (2 D + (i + 8) u) P.
 * tf32 truncates four operands: 2 * 2^-10 more in D and in P's factor. bf16 rounds p
 * (2^-8 P), and the answer (2^-8 |y|).
 */
#include <stdlib.h>

#include "gpt.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t count = shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS] *
                    shape->value[ATTENTION_TOKENS] * shape->value[ATTENTION_HEAD_SIZE];
    enum assay_type type = gpt_type(shape->value[ATTENTION_PRECISION]);
    out[ATTENTION_QKV] = (struct assay_buffer){
        "qkv", ASSAY_IN, type, 3 * count, {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1}};
    out[ATTENTION_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = type, .count = count};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double rows = (double)shape->value[ATTENTION_BATCH] * (double)shape->value[ATTENTION_HEADS];
    double tokens = (double)shape->value[ATTENTION_TOKENS];
    double size = (double)shape->value[ATTENTION_HEAD_SIZE];
    int64_t precision = shape->value[ATTENTION_PRECISION];
    double bytes = (double)gpt_bytes(precision) * rows * tokens * size;
    struct assay_work work = {.read_bytes = 3 * bytes, .write_bytes = bytes};
    work.ops[gpt_arithmetic(precision)] = 4 * size * rows * tokens * (tokens + 1) / 2;
    return work;
}

/* One query: where its vector and those of the keys begin. */
struct query {
    int64_t precision, size, stride; /* stride: elements from token to token */
    int64_t token;
    int64_t q, k, v; /* of this token; of token 0 */
};

static struct query query_of(const struct assay_shape *shape, int64_t index)
{
    int64_t heads = shape->value[ATTENTION_HEADS], tokens = shape->value[ATTENTION_TOKENS];
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    int64_t head = index % heads, token = index / heads % tokens, batch = index / heads / tokens;
    int64_t stride = 3 * heads * size, first = batch * tokens * stride + head * size;
    return (struct query){shape->value[ATTENTION_PRECISION],
                          size,
                          stride,
                          token,
                          first + token * stride,
                          first + heads * size,
                          first + 2 * heads * size};
}

/* The weights of all keys of a query, which add up to 1; returns D of the comment above. */
static double weigh(const struct query *query, const void *qkv, double *weight)
{
    bool single = query->precision == GPT_FP32;
    double unit = single ? GPT_UNIT_FP32 : GPT_UNIT_TENSOR, peak = -INFINITY, most = 0, sum = 0;
    double scale = 1 / sqrt((double)query->size);
    for (int64_t j = 0; j <= query->token; j++) {
        double score = 0, magnitude = 0;
        for (int64_t i = 0; i < query->size; i++) {
            double q = (double)gpt_load(qkv, query->precision, query->q + i);
            double k = (double)gpt_load(qkv, query->precision, query->k + j * query->stride + i);
            score += q * k;
            magnitude += fabs(q * k);
        }
        weight[j] = score * scale;
        peak = fmax(peak, weight[j]);
        most = fmax(most, magnitude * scale);
    }
    for (int64_t j = 0; j <= query->token; j++)
        sum += weight[j] = exp(weight[j] - peak);
    for (int64_t j = 0; j <= query->token; j++)
        weight[j] /= sum;
    double share = ((double)query->size + 8) * unit;
    if (query->precision == GPT_TF32) share += 2 * GPT_UNIT_TF32;
    return share * most;
}

static void attend(const struct query *query, const void *qkv, const double *weight, double off,
                   int64_t at, double *expected, double *bound)
{
    double y = 0, magnitude = 0;
    for (int64_t j = 0; j <= query->token; j++) {
        double v = (double)gpt_load(qkv, query->precision, query->v + j * query->stride + at);
        y += weight[j] * v;
        magnitude += weight[j] * fabs(v);
    }
    double unit = query->precision == GPT_FP32 ? GPT_UNIT_FP32 : GPT_UNIT_TENSOR;
    double share = 2 * off + ((double)query->token + 8) * unit;
    if (query->precision == GPT_TF32) share += 2 * GPT_UNIT_TF32;
    if (query->precision == GPT_BF16) share += GPT_UNIT_BF16;
    *expected = y;
    *bound = share * magnitude;
    if (query->precision == GPT_BF16) *bound += GPT_UNIT_BF16 * (fabs(y) + *bound);
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t size = shape->value[ATTENTION_HEAD_SIZE], index = -1;
    double *weight = malloc((size_t)shape->value[ATTENTION_TOKENS] * sizeof *weight);
    if (!weight) return assay_error("no memory for the weights of a query");
    struct query query = {0};
    double off = 0;
    for (int64_t at = begin; at < end; at++) {
        if (at / size != index) {
            query = query_of(shape, index = at / size);
            off = weigh(&query, in[ATTENTION_QKV], weight);
        }
        attend(&query, in[ATTENTION_QKV], weight, off, at % size, &expected[at - begin],
               &bound[at - begin]);
    }
    free(weight);
    return 0;
}

/* A query's scores are shared by its elements: two multiply-adds a key for each. */
static double reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[ATTENTION_TOKENS];
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_HEAD_SIZE];
}

static const char *const baselines[] = {"cublas_batched", "naive3", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "attention",
    .summary = "y = softmax(q k^T / sqrt(head size), keys up to the query) v",
    .dims = {[ATTENTION_BATCH] =
                 {.name = "batch", .summary = "sequences", .fallback = 8, .min = 1, .max = 1024},
             [ATTENTION_HEADS] =
                 {.name = "heads", .summary = "heads", .fallback = 12, .min = 1, .max = 256},
             [ATTENTION_TOKENS] = {.name = "tokens",
                                   .summary = "tokens of a sequence",
                                   .fallback = 1024,
                                   .min = 1,
                                   .max = 1 << 17},
             [ATTENTION_HEAD_SIZE] = {.name = "head_size",
                                      .summary = "numbers a head",
                                      .fallback = 64,
                                      .min = 1,
                                      .max = 256},
             [ATTENTION_PRECISION] = {.name = "type",
                                      .summary = "arithmetic, and with it the types",
                                      .choices = gpt_precisions}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
