/*
 * backward.c - operation attention_backward: the gradients of causal attention from that of its
 * result. With s = q k / sqrt(d), p = exp(s - lse), lse the logarithm of a query's sum of exp(s):
 *
 *   delta[i] = dy[i] . y[i]             ds[i, j] = p[i, j] (dy[i] . v[j] - delta[i])
 *   dv[j] = sum over i >= j of p[i, j] dy[i]
 *   dk[j] = sum over i >= j of ds[i, j] q[i] / sqrt(d)
 *   dq[i] = sum over j <= i of ds[i, j] k[j] / sqrt(d)
 *
 * q, k, v and their gradients are one buffer each, as attention has them. y and lse are what the
 * forward pass leaves, and inputs here: the formula takes them as they are. They are drawn of the
 * size that attention gives them, not computed from q and k, which would cost a forward pass on
 * the host for each drawing. So the weights of a query add up to about 1 only; a test holds the
 * formula against differences of attention itself, with the y and lse that belong to q, k and v.
 *
 * Operations: 10 d for each pair j <= i, five products; variants that make p a second time in
 * place of sums through memory do 14 d. Bytes: qkv, y, dy and lse read once, dqkv written.
 *
 * All inputs are normal and independent, so terms add up by their squares, as their errors do: a
 * tile of 64 left out among 16k moves a row by 6 %, the bound in bf16 is 2.5 % (reference.c).
 */
#include "reference.h"
#include "base/fill.h"

static const char *const types[] = {"fp32", "bf16", NULL};

static double count_of(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return (double)(value[ATTENTION_BATCH] * value[ATTENTION_HEADS] * value[ATTENTION_TOKENS]);
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t rows = (int64_t)count_of(shape), count = rows * shape->value[ATTENTION_HEAD_SIZE];
    enum assay_type type = gpt_type(backward_precision(shape));
    const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1};
    const struct assay_fill mean = {.kind = ASSAY_FILL_NORMAL, .b = 0.5};
    const struct assay_fill own = {.kind = ASSAY_FILL_CUSTOM};
    out[BACKWARD_QKV] = (struct assay_buffer){"qkv", ASSAY_IN, type, 3 * count, normal};
    out[BACKWARD_Y] = (struct assay_buffer){"y", ASSAY_IN, type, count, mean};
    out[BACKWARD_LSE] = (struct assay_buffer){"lse", ASSAY_IN, ASSAY_F32, rows, own};
    out[BACKWARD_DY] = (struct assay_buffer){"dy", ASSAY_IN, type, count, normal};
    out[BACKWARD_DQKV] =
        (struct assay_buffer){.name = "dqkv", .role = ASSAY_OUT, .type = type, .count = 3 * count};
    return 5;
}

/* The mean of exp(s) over normal q and k is about e^0.5; each row has a number of its own. */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer;
    int64_t rows = (int64_t)count_of(shape), tokens = shape->value[ATTENTION_TOKENS];
    for (int64_t i = 0; i < rows; i++)
        ((float *)host)[i] =
            (float)(log((double)(i % tokens + 1)) + 0.5 + 0.1 * fill_normal(seed, (uint64_t)i));
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double rows = count_of(shape), tokens = (double)shape->value[ATTENTION_TOKENS];
    double size = (double)shape->value[ATTENTION_HEAD_SIZE];
    enum gpt_precision precision = backward_precision(shape);
    double bytes = (double)gpt_bytes(precision) * rows * size;
    struct assay_work work = {.read_bytes = 5 * bytes + 4 * rows, .write_bytes = 3 * bytes};
    work.ops[gpt_arithmetic(precision)] = 10 * size * rows * (tokens + 1) / 2;
    return work;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t heads = shape->value[ATTENTION_HEADS], tokens = shape->value[ATTENTION_TOKENS];
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    for (int64_t at = begin; at < end; at += size) {
        int64_t head = at / size % heads, part = at / size / heads % 3;
        int64_t token = at / size / heads / 3 % tokens, batch = at / size / heads / 3 / tokens;
        struct backward_line line = backward_line_of(shape, batch * heads + head);
        backward_expect(&line, in, (enum backward_part)part, token, expected + (at - begin),
                        bound + (at - begin));
    }
    return 0;
}

/* Three multiply-adds per pair, over half of the tokens. A sixteenth of that is stated, so that
 * some hundred rows of a long context are checked, as attention does (docs/decisions.md). */
static double reference_cost(const struct assay_shape *shape)
{
    return 1.5 * (double)shape->value[ATTENTION_TOKENS] / 16;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_HEAD_SIZE];
}

static const char *const baselines[] = {"cudnn", "naive", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "attention_backward",
    .summary = "gradients of q, k and v of attention, from those of y",
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
                                      .max = BACKWARD_MAX_HEAD},
             [ATTENTION_PRECISION] = {.name = "type",
                                      .summary = "arithmetic, and with it the types",
                                      .choices = types}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
