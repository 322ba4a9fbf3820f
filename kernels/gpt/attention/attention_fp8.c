/*
 * attention_fp8.c - operation attention_fp8: attention of e4m3 with a scale for each head of q, k
 * and v, y in bf16.
 *
 *   y[i] = sv sum over j of p[i, j] v[j],
 *   p[i, j] = exp(s[i, j]) / sum over j' of exp(s[i, j']), s[i, j] = sq sk q[i] . k[j] / sqrt(d)
 *
 * for each sequence and head, d the head size; j <= i where mask=causal, and all j where mask=full.
 * qkv is [batch, tokens, 3, heads, d] in e4m3, scales [3, heads] in fp32, y [batch, tokens, heads,
 * d] in bf16.
 *
 * An operation of its own, not a type of `attention`: it has a buffer more, its output is not of
 * its inputs' type, and p is rounded to FP8 as part of the method. The reference takes the codes as
 * they are, so the bound is about arithmetic, not about how q, k and v were quantised.
 *
 * Operations: 4 d for each pair in FP8; a causal mask has half of the square and a half diagonal.
 * Bytes: qkv, scales and y once.
 *
 * Inputs: q and k normal, of deviation 32, so that all keys count and every query weighs them
 * differently; scales near 1/32, which no two heads share. v is even in [0, 256) times a sign that
 * holds for VALUE_BLOCK tokens and one number of the head, so that a block that is left out moves y
 * by far more than rounding does; one in HARD_EVERY is zero, denormal or the largest.
 *
 * Bound. With u = 2^-24, t = 2^-4 (half a unit in the last place of e4m3), weights p that add up to
 * 1, and errors that add up by their variance, six deviations being allowed and each rounding's
 * largest error taken in the place of its deviation (attention_reference.c, with its sources):
 *
 *   score    a sum of d products on tensor cores that cut terms off at 2^-13 of the largest
 *            (linear_fp8.c): 2^-13 max(1, d / 128) sqrt(N^2 + S^2), N^2 the sum of squares of the
 *            terms, S their sum; and the exponential and its argument, z below the peak:
 *            (4 u)^2 (1 + z^2). Together e_j, relative to the weight, which moves y by p_j e_j
 *            (v_j - y): sum p^2 e^2 (v - y)^2.
 *   weight   e4m3 rounds it: t^2 sum p^2 v^2. Below 2^-14 of the largest weight of its row it is
 *            off by as much as that: the smallest normal number is 2^-6, the largest weight is 2^8
 *            in a right method. Never more than t sum p |v|. This dominates.
 *   sums     AFP8_GROUP keys at a time on tensor cores, 2^-13 sqrt(N^2 + S^2) as in linear_fp8.c,
 *            and the groups in fp32. Sums of p v that stay in the tensor cores for all keys lose
 *            2^-14 of themselves at each step, all in one direction.
 *   y        bf16 rounds it: 2^-8 |y|; the division and each new peak 16 u |y|.
 *
 * A kernel whose answers are within it may still be off by much in the mean, since six times the
 * largest error are allowed. So from 512 tokens on the root mean square of the errors, as shares of
 * their bounds, may be RMS at most: rounding as above gives 0.06 to 0.07,
 * weights with a bit less 0.13.
 */
#include <math.h>
#include <stdlib.h>

#include "attention_fp8.h"
#include "base/fill.h"
#include "kernels/product.h"

enum { VALUE_BLOCK = 64, HARD_EVERY = 64, RMS_FROM = 512 };

static const double RMS = 0.1;
static const char *const masks[] = {"causal", "full", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct assay_fill factor = {.kind = ASSAY_FILL_UNIFORM, .a = 0.75 / 32, .b = 1.25 / 32};
    int64_t heads = shape->value[AFP8_HEADS];
    int64_t count =
        shape->value[AFP8_BATCH] * heads * shape->value[AFP8_TOKENS] * shape->value[AFP8_HEAD_SIZE];
    out[AFP8_QKV] =
        (struct assay_buffer){"qkv", ASSAY_IN, ASSAY_E4M3, 3 * count, {.kind = ASSAY_FILL_CUSTOM}};
    out[AFP8_SCALES] = (struct assay_buffer){"scales", ASSAY_IN, ASSAY_F32, 3 * heads, factor};
    out[AFP8_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_BF16, .count = count};
    return 3;
}

/* A number of v; `block` tells which of them have the same sign. */
static double value_of(uint64_t seed, uint64_t at, uint64_t block)
{
    static const double hard[] = {0, 0x1p-9, 0x1p-6, 448};
    const uint64_t bits = fill_hash(seed, at), other = fill_hash(bits, at);
    const double size =
        other % HARD_EVERY ? 256 * fill_uniform(bits) : hard[other / HARD_EVERY % 4];
    return fill_hash(~seed, block) & 1 ? -size : size;
}

/* All heads of one token: q, k and v. `token` counts through the batch. */
static void fill_token(const struct assay_shape *shape, uint64_t seed, int64_t token, void *qkv)
{
    int64_t width = shape->value[AFP8_HEADS] * shape->value[AFP8_HEAD_SIZE];
    int64_t tokens = shape->value[AFP8_TOKENS], first = token * 3 * width;
    int64_t blocks = (tokens + VALUE_BLOCK - 1) / VALUE_BLOCK;
    int64_t block = token / tokens * blocks + token % tokens / VALUE_BLOCK;
    for (int64_t i = 0; i < 3 * width; i++) {
        uint64_t at = (uint64_t)(first + i);
        double value = i < 2 * width
                           ? 32 * fill_normal(seed, at)
                           : value_of(seed, at, (uint64_t)(block * width + i - 2 * width));
        assay_store(ASSAY_E4M3, qkv, first + i, value);
    }
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer;
    int64_t tokens = shape->value[AFP8_BATCH] * shape->value[AFP8_TOKENS];
#pragma omp parallel for schedule(static)
    for (int64_t token = 0; token < tokens; token++)
        fill_token(shape, seed, token, host);
    return 0;
}

static double numbers(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return (double)value[AFP8_BATCH] * (double)value[AFP8_HEADS] * (double)value[AFP8_TOKENS] *
           (double)value[AFP8_HEAD_SIZE];
}

static struct assay_work work(const struct assay_shape *shape)
{
    double count = numbers(shape), scales = 3 * (double)shape->value[AFP8_HEADS];
    return (struct assay_work){.read_bytes = 3 * count + 4 * scales, .write_bytes = 2 * count};
}

static double fp8_ops(const struct assay_shape *shape)
{
    double tokens = (double)shape->value[AFP8_TOKENS];
    double keys = shape->value[AFP8_MASK] == AFP8_CAUSAL ? (tokens + 1) / 2 : tokens;
    return 4 * numbers(shape) * keys;
}

/* -------------------------------------------------------------- reference -- */

static const double UNIT = 0x1p-24, WEIGHT_UNIT = 0x1p-4, STORED_UNIT = 0x1p-8;
static const double DEVIATIONS = 6;
static const double GROUP_SIGMA = 0x1p-13;  /* of a sum on the tensor cores, as in linear_fp8.c */
static const double LEAST_WEIGHT = 0x1p-14; /* of the largest: smaller ones are not normal */

static double square(double x)
{
    return x * x;
}

/* Codes to numbers: a table is faster than assay_load, and the reference reads many. */
static void decode_table(double table[256])
{
    for (int code = 0; code < 256; code++) {
        const uint8_t byte = (uint8_t)code;
        table[code] = assay_load(ASSAY_E4M3, &byte, 0);
    }
}

/* Weights of all keys, which add up to 1, and their variances relative to them: e^2. Returns the
 * largest weight. */
static double weigh(const struct attention_fp8_query *query, const double table[256],
                    const uint8_t *qkv, const float *scales, double *weight, double *variance)
{
    double factor = (double)scales[query->head] * (double)scales[query->heads + query->head] /
                    sqrt((double)query->size);
    double share = GROUP_SIGMA * fmax(1, (double)query->size / AFP8_GROUP);
    double q[AFP8_MAX_HEAD], peak = -INFINITY, sum = 0;
    for (int64_t i = 0; i < query->size; i++)
        q[i] = table[qkv[query->q + i]] * factor;
    for (int64_t j = 0; j < query->keys; j++) {
        const uint8_t *k = qkv + query->k + j * query->stride;
        double score = 0, squares = 0;
#pragma omp simd reduction(+ : score, squares)
        for (int64_t i = 0; i < query->size; i++) {
            double term = q[i] * table[k[i]];
            score += term;
            squares += term * term;
        }
        weight[j] = score;
        variance[j] = square(share) * (squares + square(score));
        peak = fmax(peak, score);
    }
    for (int64_t j = 0; j < query->keys; j++) {
        double below = peak - weight[j];
        variance[j] += square(4 * UNIT) * (1 + square(below));
        sum += weight[j] = exp(-below);
    }
    for (int64_t j = 0; j < query->keys; j++)
        weight[j] /= sum;
    return 1 / sum;
}

/* The sums that the bound of each element of y is made of. */
struct sums {
    double y[AFP8_MAX_HEAD];
    double magnitude[AFP8_MAX_HEAD]; /* sum p |v|, p at least the least normal one */
    double squares[AFP8_MAX_HEAD];   /* sum p^2 v^2, so too */
    /* sum p^2 e^2 times v^2, v and 1: together they give sum p^2 e^2 (v - y)^2 */
    double moved2[AFP8_MAX_HEAD], moved1[AFP8_MAX_HEAD], moved0;
    double part[AFP8_MAX_HEAD], part_squares[AFP8_MAX_HEAD]; /* of the group under way */
    double grouped[AFP8_MAX_HEAD];                           /* sum of N^2 + S^2 of groups */
};

static void end_group(struct sums *sums, int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        sums->grouped[i] += sums->part_squares[i] + square(sums->part[i]);
        sums->part[i] = sums->part_squares[i] = 0;
    }
}

static void add_value(struct sums *sums, double p, double held, double moved,
                      const double table[256], const uint8_t *v, double scale, int64_t size)
{
#pragma omp simd
    for (int64_t i = 0; i < size; i++) {
        double value = table[v[i]] * scale, term = p * value, most = held * value;
        sums->y[i] += term;
        sums->part[i] += term;
        sums->part_squares[i] += term * term;
        sums->magnitude[i] += fabs(most);
        sums->squares[i] += most * most;
        sums->moved1[i] += moved * value;
        sums->moved2[i] += moved * value * value;
    }
    sums->moved0 += moved;
}

static double bound_of(const struct sums *sums, int64_t i)
{
    double y = sums->y[i], size = fabs(y);
    double moved = fmax(0, sums->moved2[i] - 2 * y * sums->moved1[i] + square(y) * sums->moved0);
    double weights =
        fmin(DEVIATIONS * WEIGHT_UNIT * sqrt(sums->squares[i]), WEIGHT_UNIT * sums->magnitude[i]);
    double sigma = sqrt(moved + square(GROUP_SIGMA) * sums->grouped[i]);
    double error = weights + DEVIATIONS * sigma + 16 * UNIT * size;
    return error + STORED_UNIT * (size + error);
}

/* `size` elements of y, and their bounds. `scratch` has room for 2 keys. */
static void expect(const struct attention_fp8_query *query, const double table[256],
                   const void *const in[], double *scratch, double *y, double *bound)
{
    const uint8_t *qkv = in[AFP8_QKV];
    const float *scales = in[AFP8_SCALES];
    double *weight = scratch, *variance = scratch + query->keys;
    double scale = (double)scales[2 * query->heads + query->head];
    double least = LEAST_WEIGHT * weigh(query, table, qkv, scales, weight, variance);
    struct sums sums = {0};
    for (int64_t j = 0; j < query->keys; j++) {
        add_value(&sums, weight[j], fmax(weight[j], least), square(weight[j]) * variance[j], table,
                  qkv + query->v + j * query->stride, scale, query->size);
        if ((j + 1) % AFP8_GROUP == 0) end_group(&sums, query->size);
    }
    end_group(&sums, query->size);
    for (int64_t i = 0; i < query->size; i++) {
        y[i] = sums.y[i];
        bound[i] = bound_of(&sums, i);
    }
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t size = shape->value[AFP8_HEAD_SIZE], index = -1;
    double *scratch = malloc(2 * (size_t)shape->value[AFP8_TOKENS] * sizeof *scratch);
    if (!scratch) return assay_error("no memory for the weights of a query");
    double table[256], y[AFP8_MAX_HEAD], off[AFP8_MAX_HEAD];
    decode_table(table);
    for (int64_t at = begin; at < end; at++) {
        if (at / size != index) {
            struct attention_fp8_query query = attention_fp8_query(shape, index = at / size);
            expect(&query, table, in, scratch, y, off);
        }
        expected[at - begin] = y[at % size];
        bound[at - begin] = off[at % size];
    }
    free(scratch);
    return 0;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[AFP8_HEADS] * shape->value[AFP8_HEAD_SIZE];
}

/* As in attention.c: elements of a query share its scores, and where all places together cost no
 * more than PLACES_COST, the cost is stated as one that the budget allows. */
static double reference_cost(const struct assay_shape *shape)
{
    const double PLACES_COST = 0x1p33;
    double cost = (double)shape->value[AFP8_TOKENS] * (shape->value[AFP8_MASK] + 1);
    double elements = (double)ASSAY_CHECK_PLACES * (double)reference_run(shape);
    if (cost * elements > PLACES_COST) return cost;
    return fmin(cost, ASSAY_CHECK_BUDGET / (elements + 1)); /* whole, whatever is rounded */
}

static double rms(const struct assay_shape *shape)
{
    return shape->value[AFP8_TOKENS] < RMS_FROM ? 0 : RMS;
}

static const char *const baselines[] = {"host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "attention_fp8",
    .summary = "y = softmax(q k^T / sqrt(head size)) v of e4m3 with scales of heads, y in bf16",
    .dims =
        {[AFP8_BATCH] =
             {.name = "batch", .summary = "sequences", .fallback = 8, .min = 1, .max = 1024},
         [AFP8_HEADS] = {.name = "heads", .summary = "heads", .fallback = 16, .min = 1, .max = 256},
         [AFP8_TOKENS] = {.name = "tokens",
                          .summary = "tokens of a sequence",
                          .fallback = 1024,
                          .min = 1,
                          .max = 1 << 17},
         [AFP8_HEAD_SIZE] = {.name = "head_size",
                             .summary = "numbers per head",
                             .fallback = 128,
                             .min = 1,
                             .max = AFP8_MAX_HEAD},
         [AFP8_MASK] = {.name = "mask",
                        .summary = "keys up to the query, or all",
                        .choices = masks}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .rms = rms,
    .baselines = baselines,
    .fp8_ops = fp8_ops,
};
ASSAY_REGISTER_OPERATION(operation);
