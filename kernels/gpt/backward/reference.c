/*
 * reference.c - see reference.h.
 *
 * The model of errors is that of attention_reference.c: errors of either sign add up by their
 * variance, each rounding's largest error in the place of its deviation, and six deviations are
 * allowed (Higham and Mary, SIAM J. Sci. Comput. 41, 2019). u = 2^-24; share(n) is the variance of
 * a sum of n products, relative to the square of its partial sums: (n / 2 + 1) u^2 in fp32,
 * (n / 8 + 1)^2 (2 u)^2 on tensor cores, which truncate once in eight terms.
 *
 *   p     exp(s - lse): share(d) sum (q k)^2 / d of the score, (4 u)^2 (1 + s^2 + lse^2) of the
 *         argument and the exponential. Together e^2, relative to p.
 *   dp    dy v: share(d) sum (dy v)^2, which moves ds by p of it.
 *   delta dy y: (d / 2 + 1) u^2 sum (dy y)^2; it has fp32 in every type. All keys of a query have
 *         the same error, so it moves dq by sum p k of it.
 *   ds    p (dp - delta): e^2, and (2 u)^2 for the difference and the product, relative to ds.
 *   rounding of p and ds to bf16 before the products: t = 2^-8 of each term, and never more than
 *         t of the sum of all sizes, which is the smaller where few terms count.
 *   sums  share(n), of the largest partial sum; 16 u for factors, and sums in parts.
 *   result bf16 rounds it.
 *
 * Nothing is divided by a sum of weights: lse is an input, so the weights of a row need not add up
 * to 1.
 */
#include "reference.h"

enum {
    DEVIATIONS = 6,
    PART = 64, /* terms between two looks at the partial sums */
};

static double square(double x)
{
    return x * x;
}

static double fp32_share(double n)
{
    return (n / 2 + 1) * square(GPT_UNIT_FP32);
}

static double share(enum gpt_precision precision, double n)
{
    return precision == GPT_BF16 ? square((n / 8 + 1) * GPT_UNIT_TENSOR) : fp32_share(n);
}

static void widen(const struct backward_line *line, const void *base, int64_t first, double *out)
{
    if (line->precision == GPT_BF16)
        for (int64_t i = 0; i < line->size; i++)
            out[i] = (double)gpt_widen(((const uint16_t *)base)[first + i]);
    else
        for (int64_t i = 0; i < line->size; i++)
            out[i] = (double)((const float *)base)[first + i];
}

static double dot(const double *a, const double *b, int64_t count, double *squares)
{
    double sum = 0, square_sum = 0;
#pragma omp simd reduction(+ : sum, square_sum)
    for (int64_t i = 0; i < count; i++) {
        double product = a[i] * b[i];
        sum += product;
        square_sum += product * product;
    }
    *squares = square_sum;
    return sum;
}

struct query {
    double q[BACKWARD_MAX_HEAD], dy[BACKWARD_MAX_HEAD];
    double lse, delta, delta_variance;
};

struct key {
    double k[BACKWARD_MAX_HEAD], v[BACKWARD_MAX_HEAD];
};

static void query_at(const struct backward_line *line, const void *const in[], int64_t token,
                     struct query *out)
{
    double y[BACKWARD_MAX_HEAD];
    widen(line, in[BACKWARD_QKV], line->q + token * line->stride, out->q);
    widen(line, in[BACKWARD_DY], line->y + token * line->stride_y, out->dy);
    widen(line, in[BACKWARD_Y], line->y + token * line->stride_y, y);
    out->lse = (double)((const float *)in[BACKWARD_LSE])[line->lse + token];
    out->delta = dot(out->dy, y, line->size, &out->delta_variance);
    out->delta_variance *= fp32_share((double)line->size);
}

static void key_at(const struct backward_line *line, const void *const in[], int64_t token,
                   struct key *out)
{
    int64_t k = line->q + token * line->stride + line->stride_y;
    widen(line, in[BACKWARD_QKV], k, out->k);
    widen(line, in[BACKWARD_QKV], k + line->stride_y, out->v);
}

/* What a pair of a query and a key weighs, and the variances of both. That of ds is without the
 * error of delta. */
struct pair {
    double p, ds, p_variance, ds_variance;
};

static struct pair pair_of(const struct backward_line *line, const struct query *query,
                           const struct key *key)
{
    double size = (double)line->size, products, gradients;
    double each = share(line->precision, size), u2 = square(GPT_UNIT_FP32);
    double s = dot(query->q, key->k, line->size, &products) / sqrt(size);
    double off = dot(query->dy, key->v, line->size, &gradients) - query->delta;
    double p = exp(s - query->lse);
    double e2 = each * products / size + 16 * u2 * (1 + square(s) + square(query->lse));
    return (struct pair){.p = p,
                         .ds = p * off,
                         .p_variance = square(p) * e2,
                         .ds_variance =
                             square(p) * (square(off) * (e2 + 4 * u2) + each * gradients)};
}

/* The sums that a row and its bounds are made of. */
struct sums {
    double total[BACKWARD_MAX_HEAD];
    double squares[BACKWARD_MAX_HEAD];   /* of the terms */
    double magnitude[BACKWARD_MAX_HEAD]; /* sum of their sizes */
    double variance[BACKWARD_MAX_HEAD];  /* of their errors */
    double common[BACKWARD_MAX_HEAD];    /* sum p k */
    double most[BACKWARD_MAX_HEAD];      /* partial sum */
    int64_t count;
};

static void add(struct sums *sums, double weight, double variance, double common, const double *x,
                int64_t size)
{
#pragma omp simd
    for (int64_t i = 0; i < size; i++) {
        double term = weight * x[i];
        sums->total[i] += term;
        sums->squares[i] += term * term;
        sums->magnitude[i] += fabs(term);
        sums->variance[i] += variance * x[i] * x[i];
        sums->common[i] += common * x[i];
    }
    if (++sums->count % PART != 0) return;
    for (int64_t i = 0; i < size; i++)
        sums->most[i] = fmax(sums->most[i], fabs(sums->total[i]));
}

static double bound_of(const struct sums *sums, enum gpt_precision precision, double delta_variance,
                       int64_t i)
{
    const double rounding = precision == GPT_BF16 ? GPT_UNIT_BF16 : 0;
    double size = fabs(sums->total[i]), reach = sums->most[i] + size; /* from either end */
    double variance = sums->variance[i] + share(precision, (double)sums->count) * square(reach) +
                      delta_variance * square(sums->common[i]);
    double rounded = fmin(DEVIATIONS * sqrt(sums->squares[i]), sums->magnitude[i]) * rounding;
    double error = rounded + DEVIATIONS * sqrt(variance) + 16 * GPT_UNIT_FP32 * size;
    return error + rounding * (size + error);
}

void backward_expect(const struct backward_line *line, const void *const in[],
                     enum backward_part part, int64_t token, double *expected, double *bound)
{
    bool is_query = part == BACKWARD_DQ;
    int64_t begin = is_query ? 0 : token, end = is_query ? token + 1 : line->tokens;
    double scale = part == BACKWARD_DV ? 1 : 1 / sqrt((double)line->size);
    struct query query;
    struct key key;
    struct sums sums = {0};
    query_at(line, in, token, &query);
    key_at(line, in, token, &key);
    for (int64_t other = begin; other < end; other++) {
        if (is_query)
            key_at(line, in, other, &key);
        else
            query_at(line, in, other, &query);
        struct pair pair = pair_of(line, &query, &key);
        if (part == BACKWARD_DQ)
            add(&sums, pair.ds, pair.ds_variance, pair.p, key.k, line->size);
        else if (part == BACKWARD_DK)
            add(&sums, pair.ds, pair.ds_variance + square(pair.p) * query.delta_variance, 0,
                query.q, line->size);
        else
            add(&sums, pair.p, pair.p_variance, 0, query.dy, line->size);
    }
    for (int64_t i = 0; i < line->size; i++) {
        expected[i] = sums.total[i] * scale;
        bound[i] = bound_of(&sums, line->precision, is_query ? query.delta_variance : 0, i) * scale;
    }
}
