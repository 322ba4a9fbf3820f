/*
 * attention_reference.c - see attention_reference.h.
 *
 * With n keys, weights p that add up to 1, and inputs that are numbers of the operand type, a
 * right answer is off by what is rounded along the way. Errors of either sign add up by their
 * variance (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J.
 * Sci. Comput. 41, 2019), and six deviations are allowed, each rounding's largest error in the
 * place of its deviation. Errors that all have one direction, or happen once, are added as they
 * are. u = 2^-24.
 *
 *   score        a sum of d products: (d / 2 + 1) u^2 sum (q k)^2 / d in fp32, for a partial sum
 *                has half of its variance on average. Tensor cores truncate where they align
 *                terms, once in eight (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior
 *                of NVIDIA tensor cores", PeerJ Comput. Sci. 7, 2021): (d / 8 + 1)^2 (2 u)^2.
 *                Then the exponential and its argument, z below the peak: (4 u)^2 (1 + z^2).
 *                Together e_j^2, relative to the weight, which moves y by p_j e_j (v_j - y):
 *                the variance is sum p^2 e^2 (v - y)^2.
 *   weight       bf16 rounds it, t = 2^-8; fp16 too, t = 2^-11, and a weight below its smallest
 *                normal number, 2^-14, is off by as much as that one; tf32 may truncate it, t =
 * 2^-10: t^2 sum p^2 v^2; in tf32 t |y| besides: truncating makes all weights smaller, while their
 * sum, which y is divided by, is of the whole ones. Never more than t sum p |v|. sums         r the
 * largest of the partial sums, from the first key or from the last: (n / 2 + 1) u^2 r^2 in fp32, (n
 * / 8 + 1)^2 (2 u)^2 r^2 on tensor cores; the sum of weights (n / 2 + 1) u^2 y^2. rescaling    each
 * new peak, and the division: 16 u |y|. y            bf16 rounds it: 2^-8 |y|; fp16: 2^-11 |y|, or
 * of 2^-14 if |y| is less.
 *
 * A part of a long context that is left out, or a block of other queries, is far outside
 * (tests): these bounds fall as |y| does, with the root of n.
 */
#include "attention_reference.h"
#include "kernels/gpt/widest.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    DEVIATIONS = 6,
    PART = 64, /* keys between two looks at the partial sums */
};

static double square(double x)
{
    return x * x;
}

/* What a kernel's arithmetic makes of its numbers, as above. */
struct roundoff {
    double weight;  /* of p */
    double one_way; /* of p too: an error with the same direction for all */
    double stored;  /* of y */
    double normal;  /* a smaller weight or y is off by as much as this number */
    bool tensor;
};

static struct roundoff roundoff_of(int64_t precision)
{
    const struct roundoff table[] = {
        [GPT_FP32] = {0, 0, 0, 0, false},
        [GPT_TF32] = {GPT_UNIT_TF32, GPT_UNIT_TF32, 0, 0, true},
        [GPT_BF16] = {GPT_UNIT_BF16, 0, GPT_UNIT_BF16, 0, true},
        [GPT_FP16] = {GPT_UNIT_FP16, 0, GPT_UNIT_FP16, 0x1p-14, true},
    };
    return table[precision];
}

/* The variance of a sum of n terms in fp32, relative to the square of its partial sums. */
static double fp32_share(double n)
{
    return (n / 2 + 1) * square(GPT_UNIT_FP32);
}

/* The same in the arithmetic of the products. */
static double sum_share(const struct roundoff *roundoff, double n)
{
    if (roundoff->tensor) return square((n / 8 + 1) * GPT_UNIT_TENSOR);
    return fp32_share(n);
}

/* Inlined, so that they are compiled for the vector width of their callers (WIDEST). */
INLINE void widen(const void *base, int64_t precision, int64_t first, int64_t count, double *out)
{
    if (precision == GPT_BF16) {
        const uint16_t *from = (const uint16_t *)base + first;
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)gpt_widen(from[i]);
        return;
    }
    if (precision == GPT_FP16) {
        const uint16_t *from = (const uint16_t *)base + first;
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)half_widen(from[i]);
        return;
    }
    const float *from = (const float *)base + first;
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        out[i] = (double)from[i];
}

INLINE double dot(const double *a, const double *b, int64_t count, double *squares)
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

/* The sums that the bound of each element of y is made of. */
struct sums {
    double y[ATTENTION_MAX_HEAD];
    double magnitude[ATTENTION_MAX_HEAD]; /* sum p |v|, p at least `normal` */
    double squares[ATTENTION_MAX_HEAD];   /* sum p^2 v^2, so too */
    /* sum p^2 e^2 times v^2, v and 1: together they give sum p^2 e^2 (v - y)^2 */
    double moved2[ATTENTION_MAX_HEAD], moved1[ATTENTION_MAX_HEAD], moved0;
    double low[ATTENTION_MAX_HEAD], high[ATTENTION_MAX_HEAD]; /* partial sums */
};

INLINE void add_value(double p, double held, double moved, const double *v, int64_t count,
                      struct sums *sums)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        double part = held * v[i];
        sums->y[i] += p * v[i];
        sums->magnitude[i] += fabs(part);
        sums->squares[i] += part * part;
        double first = moved * v[i];
        sums->moved1[i] += first;
        sums->moved2[i] += first * v[i];
    }
}

/* Scores of all keys, and the sums of squares that they are made of; returns the largest. */
WIDEST static double score(const struct attention_query *query, const void *qkv, double *scores,
                           double *squares)
{
    double q[ATTENTION_MAX_HEAD], k[ATTENTION_MAX_HEAD], peak = -INFINITY;
    double scale = 1 / sqrt((double)query->size);
    widen(qkv, query->precision, query->q, query->size, q);
    for (int64_t j = 0; j <= query->token; j++) {
        widen(qkv, query->precision, query->k + j * query->stride, query->size, k);
        scores[j] = dot(q, k, query->size, &squares[j]) * scale;
        peak = fmax(peak, scores[j]);
    }
    return peak;
}

/* Weights of all keys, which add up to 1, and their variances relative to them: e^2. */
static void weigh(const struct attention_query *query, const struct roundoff *roundoff,
                  const void *qkv, double *weight, double *variance)
{
    double size = (double)query->size, share = sum_share(roundoff, size) / size, sum = 0;
    double peak = score(query, qkv, weight, variance);
    for (int64_t j = 0; j <= query->token; j++) {
        double below = peak - weight[j];
        variance[j] = share * variance[j] + square(4 * GPT_UNIT_FP32) * (1 + square(below));
        sum += weight[j] = exp(-below);
    }
    for (int64_t j = 0; j <= query->token; j++)
        weight[j] /= sum;
}

WIDEST static void add_values(const struct attention_query *query, const void *qkv,
                              const struct roundoff *roundoff, const double *weight,
                              const double *variance, struct sums *sums)
{
    double v[ATTENTION_MAX_HEAD];
    for (int64_t j = 0; j <= query->token; j++) {
        double moved = square(weight[j]) * variance[j];
        widen(qkv, query->precision, query->v + j * query->stride, query->size, v);
        add_value(weight[j], fmax(weight[j], roundoff->normal), moved, v, query->size, sums);
        sums->moved0 += moved;
        if ((j + 1) % PART != 0 && j != query->token) continue;
        for (int64_t i = 0; i < query->size; i++) {
            sums->low[i] = fmin(sums->low[i], sums->y[i]);
            sums->high[i] = fmax(sums->high[i], sums->y[i]);
        }
    }
}

/* How far element i of y may be off, with `keys` keys. */
static double bound_of(const struct sums *sums, const struct roundoff *roundoff, double keys,
                       int64_t i)
{
    double y = sums->y[i], size = fabs(y), low = sums->low[i], high = sums->high[i];
    double reach = fmax(fmax(high, -low), fmax(y - low, high - y));
    double moved = fmax(0, sums->moved2[i] - 2 * y * sums->moved1[i] + square(y) * sums->moved0);
    double variance =
        moved + fp32_share(keys) * square(y) + sum_share(roundoff, keys) * square(reach);
    double weights = DEVIATIONS * roundoff->weight * sqrt(sums->squares[i]);
    weights = fmin(weights + roundoff->one_way * size, roundoff->weight * sums->magnitude[i]);
    double error = weights + DEVIATIONS * sqrt(variance) + 16 * GPT_UNIT_FP32 * size;
    return error + roundoff->stored * fmax(size + error, roundoff->normal);
}

void attention_expect(const struct attention_query *query, const void *qkv, double *scratch,
                      double *y, double *bound)
{
    const struct roundoff roundoff = roundoff_of(query->precision);
    double *variance = scratch + query->token + 1;
    struct sums sums = {0};
    weigh(query, &roundoff, qkv, scratch, variance);
    add_values(query, qkv, &roundoff, scratch, variance, &sums);
    for (int64_t i = 0; i < query->size; i++) {
        y[i] = sums.y[i];
        bound[i] = bound_of(&sums, &roundoff, (double)query->token + 1, i);
    }
}
