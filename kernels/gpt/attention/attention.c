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
 * q and k are normal, so that all keys count and every query weighs them differently. v is
 * uniform in [0, 1) times a sign that holds for VALUE_BLOCK tokens and one number of the head: a
 * block's share of y does not average out, so a block left out moves y by far more than rounding
 * does. All are rounded to numbers of the operand type, tf32's too; the bound covers the
 * arithmetic alone (attention_reference.c), and is nowhere above the family's 1e-5 (fp32),
 * 1e-3 (tf32, fp16) and 1e-2 (bf16).
 *
 * An output too large to be checked whole is checked by whole tokens, all heads of each, at
 * 256 places: with 16k tokens, one in every 64.
 */
#include <stdlib.h>

#include "attention_reference.h"
#include "base/fill.h"

enum { VALUE_BLOCK = 64 };

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t count = shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS] *
                    shape->value[ATTENTION_TOKENS] * shape->value[ATTENTION_HEAD_SIZE];
    enum assay_type type = gpt_type(shape->value[ATTENTION_PRECISION]);
    out[ATTENTION_QKV] =
        (struct assay_buffer){"qkv", ASSAY_IN, type, 3 * count, {.kind = ASSAY_FILL_CUSTOM}};
    out[ATTENTION_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = type, .count = count};
    return 2;
}

/* Which of the values of its head have the same sign: a number of the block and the element. */
static uint64_t value_block(const struct assay_shape *shape, int64_t token, int64_t element)
{
    int64_t width = shape->value[ATTENTION_HEADS] * shape->value[ATTENTION_HEAD_SIZE];
    int64_t blocks = (shape->value[ATTENTION_TOKENS] + VALUE_BLOCK - 1) / VALUE_BLOCK;
    int64_t batch = token / shape->value[ATTENTION_TOKENS];
    int64_t block = token % shape->value[ATTENTION_TOKENS] / VALUE_BLOCK;
    return (uint64_t)((batch * blocks + block) * width + element);
}

/* All heads of one token: q, k and v. `token` counts through the batch. */
static void fill_token(const struct assay_shape *shape, uint64_t seed, int64_t token, void *qkv)
{
    int64_t width = shape->value[ATTENTION_HEADS] * shape->value[ATTENTION_HEAD_SIZE];
    int64_t precision = shape->value[ATTENTION_PRECISION], first = token * 3 * width;
    for (int64_t i = 0; i < 3 * width; i++) {
        double value;
        if (i < 2 * width) {
            value = fill_normal(seed, (uint64_t)(first + i));
        } else {
            uint64_t block = value_block(shape, token, i - 2 * width);
            value = fill_uniform(fill_hash(seed, (uint64_t)(first + i)));
            if (fill_hash(~seed, block) & 1) value = -value;
        }
        float number = (float)value;
        gpt_store(qkv, precision, first + i,
                  precision == GPT_TF32 ? gpt_nearest_tf32(number) : number);
    }
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer;
    int64_t tokens = shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_TOKENS];
#pragma omp parallel for schedule(static)
    for (int64_t token = 0; token < tokens; token++)
        fill_token(shape, seed, token, host);
    return 0;
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

/* The query and head that number `index` of the output stands for. */
static struct attention_query query_of(const struct assay_shape *shape, int64_t index)
{
    int64_t heads = shape->value[ATTENTION_HEADS], tokens = shape->value[ATTENTION_TOKENS];
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    int64_t head = index % heads, token = index / heads % tokens, batch = index / heads / tokens;
    int64_t stride = 3 * heads * size, first = batch * tokens * stride + head * size;
    return (struct attention_query){.precision = shape->value[ATTENTION_PRECISION],
                                    .size = size,
                                    .stride = stride,
                                    .token = token,
                                    .q = first + token * stride,
                                    .k = first + heads * size,
                                    .v = first + 2 * heads * size};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t size = shape->value[ATTENTION_HEAD_SIZE], index = -1;
    double *scratch = malloc(2 * (size_t)shape->value[ATTENTION_TOKENS] * sizeof *scratch);
    if (!scratch) return assay_error("no memory for the weights of a query");
    double y[ATTENTION_MAX_HEAD], off[ATTENTION_MAX_HEAD];
    for (int64_t at = begin; at < end; at++) {
        if (at / size != index) {
            struct attention_query query = query_of(shape, index = at / size);
            attention_expect(&query, in[ATTENTION_QKV], scratch, y, off);
        }
        expected[at - begin] = y[at % size];
        bound[at - begin] = off[at % size];
    }
    free(scratch);
    return 0;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_HEADS] * shape->value[ATTENTION_HEAD_SIZE];
}

/* The elements of a query share its scores, so each costs two multiply-adds per key, over half of
 * the keys on average. Errors in a part of a long context where nothing is checked would not be
 * found. So where the budget is too small for one token at every place, and all of them together
 * cost no more than PLACES_COST, the cost is stated as one that the budget allows. */
static double reference_cost(const struct assay_shape *shape)
{
    const double PLACES_COST = 0x1p33;
    double cost = (double)shape->value[ATTENTION_TOKENS];
    double elements = (double)ASSAY_CHECK_PLACES * (double)reference_run(shape);
    if (cost * elements > PLACES_COST) return cost;
    return fmin(cost, ASSAY_CHECK_BUDGET / (elements + 1)); /* whole, whatever is rounded */
}

/* The vendor's in the fewest kernels first. */
static const char *const baselines[] = {"cudnn",  "cublas_pointers", "cublas_batched",
                                        "naive3", "host_scalar",     NULL};

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
                                      .summary = "numbers per head",
                                      .fallback = 64,
                                      .min = 1,
                                      .max = ATTENTION_MAX_HEAD},
             [ATTENTION_PRECISION] = {.name = "type",
                                      .summary = "arithmetic, and with it the types",
                                      .choices = gpt_types}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
