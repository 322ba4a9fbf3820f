/*
 * model_reference.c - a model in double, and how far a right answer may be from it.
 *
 * Bounds of single layers do not chain: the worst case of each, multiplied over twelve
 * layers, would allow anything. Instead the variance of the error goes along with every
 * value, to first order, as a Gaussian would spread:
 *
 *   sum of w x      v = sum of w^2 (v_x + e^2 x^2) + b^2 y^2. e^2 covers the sum's own
 *                   rounding: for fp32 k u^2 (k roundings of either sign, each a u
 *                   of a partial sum, which is about the root of the sum of squares; Higham and
 *                   Mary, "A new approach to probabilistic rounding error analysis", SIAM
 *                   J. Sci. Comput. 41, 2019); tensor cores truncate once in eight
 *                   terms, all one way: (k / 8 u)^2. tf32 truncates both operands, t =
 *                   2 * 2^-10: e^2 has t^2, and b = t, the part of it that is all one way.
 *   layernorm       y_i = n_i w_i + b_i, n = (x - mean) r: v_i = r^2 w_i^2 (v_i + sum v / c^2 +
 *                   n_i^2 sum n^2 v / c^2), and a few roundings of x, mean and y.
 *   softmax, sum    v = sum p^2 v_v + (sum p (v - y)^2) (sum p v_s) by Cauchy and Schwarz,
 *                   v_s that of a score: sum of k^2 v_q + q^2 v_k, its own as a sum above.
 *   gelu            g'^2 v + v^2, the last for its curvature (at most 1.13 / sqrt 2).
 *   bf16            (2^-8 y)^2 wherever a layer may round what it stores, twice for a
 *                   product (before and behind the bias), once for the softmax's weights.
 *
 * The bound is six deviations: 2 in 10^9 if Gaussian, and every share above is the largest
 * error in the place of its deviation, about a third of it. That is tight enough for a
 * missing bias, mask or layer, and for tf32 in the place of fp32, to be found (tests).
 *
 * A large model is checked at two sequences, which are two tasks; so each step of a sequence is
 * spread as tasks over the team of threads that the reference was called in.
 */
#include <omp.h>
#include <stdlib.h>

#include "model.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST
#endif

enum {
    DEVIATIONS = 6,
    ROWS = 4,    /* of a product, taken at a time, */
    COLUMNS = 8, /* and columns */
};

typedef double lanes __attribute__((vector_size(sizeof(double) * COLUMNS), aligned(8)));
typedef float float_lanes __attribute__((vector_size(sizeof(float) * COLUMNS), aligned(4)));

/* Values and the variances of their errors. */
struct field {
    double *value;
    float *variance;
};

struct workspace {
    const struct model *model;
    const void *const *in;
    void *memory;
    struct field x, normed, wide, attended; /* [tokens]: c, c, 4 c, c */
    float *widened;                         /* [tokens][4 c]: v_x + e^2 x^2 */
    /* Of each thread `scratch_count`: columns of weights and their squares, or a query's scores. */
    double *scratch;
    int64_t scratch_count;
};

/* The calling thread's own. */
static double *scratch_of(const struct workspace *at)
{
    return at->scratch + omp_get_thread_num() * at->scratch_count;
}

static double square(double x)
{
    return x * x;
}

static struct field field_at(struct field field, int64_t offset)
{
    return (struct field){field.value + offset, field.variance + offset};
}

/* Variance of one rounding of a stored value. */
static double stored(const struct model *model, double value)
{
    return square((model->precision == GPT_BF16 ? GPT_UNIT_BF16 : GPT_UNIT_FP32) * value);
}

/* The share of a product's variance that comes of each of its k terms: e^2. */
static double term_share(const struct model *model, int64_t k)
{
    if (model->precision == GPT_FP32) return (double)(k + 1) * square(GPT_UNIT_FP32);
    double sum = square(((double)k / 8 + 1) * GPT_UNIT_TENSOR);
    return sum + (model->precision == GPT_TF32 ? square(2 * GPT_UNIT_TF32) : 0);
}

/* The share that is all one way: b^2. */
static double whole_share(const struct model *model)
{
    return model->precision == GPT_TF32 ? square(2 * GPT_UNIT_TF32) : 0;
}

/* --------------------------------------------------------------- products -- */

/* ROWS rows of x, `stride` apart, times COLUMNS columns of w, which lie side by side. */
WIDEST static void multiply_tile(const double *x, int64_t stride, const lanes *w, int64_t k,
                                 lanes out[ROWS])
{
    const double *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    lanes a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t i = 0; i < k; i++) {
        a += x[i] * w[i];
        b += x1[i] * w[i];
        c += x2[i] * w[i];
        d += x3[i] * w[i];
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

WIDEST static void multiply_float_tile(const float *x, int64_t stride, const float_lanes *w,
                                       int64_t k, float_lanes out[ROWS])
{
    const float *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    float_lanes a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t i = 0; i < k; i++) {
        a += x[i] * w[i];
        b += x1[i] * w[i];
        c += x2[i] * w[i];
        d += x3[i] * w[i];
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

/* Where a product's weight and bias begin; no bias: -1. */
struct operands {
    enum model_product product;
    int64_t layer, bias;
};

/* COLUMNS columns of y, from `column`; those beyond the last are of zeros. */
static void multiply_columns(const struct workspace *at, struct operands op, int64_t column,
                             struct field x, int64_t rows, struct field y)
{
    const struct model *model = at->model;
    const struct model_matrix matrix = model_matrix(model, op.product);
    int64_t n = matrix.n, k = matrix.k, first = (op.layer * n + column) * k;
    int64_t count = n - column < COLUMNS ? n - column : COLUMNS;
    lanes *weight = (lanes *)scratch_of(at);
    float_lanes *squares = (float_lanes *)(weight + k);
    double bias[COLUMNS] = {0}, whole = whole_share(model);
    for (int64_t j = 0; j < COLUMNS; j++) {
        for (int64_t i = 0; i < k; i++) {
            float w = 0;
            if (j < count) w = gpt_load(at->in[matrix.buffer], model->precision, first + j * k + i);
            weight[i][j] = (double)w;
            squares[i][j] = w * w;
        }
        if (j < count && op.bias >= 0)
            bias[j] = (double)gpt_load(at->in[MODEL_BIAS], model->precision, op.bias + column + j);
    }
    for (int64_t row = 0; row < rows; row += ROWS) {
        lanes sum[ROWS];
        float_lanes variance[ROWS];
        multiply_tile(x.value + row * k, k, weight, k, sum);
        multiply_float_tile(at->widened + row * k, k, squares, k, variance);
        for (int64_t i = 0; i < ROWS && row + i < rows; i++)
            for (int64_t j = 0; j < count; j++) {
                int64_t to = (row + i) * n + column + j;
                y.value[to] = sum[i][j] + bias[j];
                y.variance[to] =
                    (float)((double)variance[i][j] + whole * square(sum[i][j]) +
                            stored(model, sum[i][j]) + stored(model, sum[i][j] + bias[j]));
            }
    }
}

/* y [rows, n] = x [rows, k] w^T + b; rows are padded to whole groups (workspace_init). */
static void multiply(const struct workspace *at, struct operands op, struct field x, int64_t rows,
                     struct field y)
{
    const struct model_matrix matrix = model_matrix(at->model, op.product);
    double share = term_share(at->model, matrix.k);
    for (int64_t i = 0; i < rows * matrix.k; i++)
        at->widened[i] = (float)((double)x.variance[i] + share * square(x.value[i]));
#pragma omp taskloop
    for (int64_t column = 0; column < matrix.n; column += COLUMNS)
        multiply_columns(at, op, column, x, rows, y);
}

/* ----------------------------------------------------------------- layers -- */

static void normalise(const struct workspace *at, int64_t norm, int64_t bias, struct field x,
                      struct field y)
{
    const struct model *model = at->model;
    int64_t c = model->channels;
    double count = (double)c, mean = 0, squares = 0, sum = 0, weighted = 0;
    for (int64_t i = 0; i < c; i++)
        mean += x.value[i] / count;
    for (int64_t i = 0; i < c; i++)
        squares += square(x.value[i] - mean);
    double r = 1 / sqrt(squares / count + 1e-5);
    for (int64_t i = 0; i < c; i++) {
        sum += (double)x.variance[i];
        weighted += square((x.value[i] - mean) * r) * (double)x.variance[i];
    }
    for (int64_t i = 0; i < c; i++) {
        double w = (double)gpt_load(at->in[MODEL_SCALE], model->precision, norm * c + i);
        double b = (double)gpt_load(at->in[MODEL_BIAS], model->precision, bias + i);
        double n = (x.value[i] - mean) * r, v = n * w + b;
        double own = square(r * w * 4 * GPT_UNIT_FP32) * (square(x.value[i]) + square(mean)) +
                     square(8 * GPT_UNIT_FP32 * n * w);
        double carried = (double)x.variance[i] + (sum + square(n) * weighted) / square(count);
        y.value[i] = v;
        y.variance[i] = (float)(square(r * w) * carried + own + stored(model, v));
    }
}

/* The score of a key, and its variance. */
static double score(const struct model *model, struct field q, struct field k, double *variance)
{
    double sum = 0, squares = 0, carried = 0, scale = 1 / sqrt((double)model->size);
    for (int64_t i = 0; i < model->size; i++) {
        sum += q.value[i] * k.value[i];
        squares += square(q.value[i] * k.value[i]);
        carried +=
            square(k.value[i]) * (double)q.variance[i] + square(q.value[i]) * (double)k.variance[i];
    }
    *variance = square(scale) *
                (carried + (term_share(model, model->size) + square(8 * GPT_UNIT_FP32)) * squares +
                 (whole_share(model) + square(8 * GPT_UNIT_FP32)) * square(sum));
    return sum * scale;
}

/* One query and head. `qkv` is [tokens][3][heads][size]. */
static void attend(const struct workspace *at, int64_t token, int64_t head, struct field qkv,
                   struct field y)
{
    const struct model *model = at->model;
    int64_t c = model->channels, size = model->size;
    struct field q = field_at(qkv, token * 3 * c + head * size);
    double *weight = scratch_of(at), peak = -INFINITY, sum = 0, off = 0;
    for (int64_t j = 0; j <= token; j++) {
        weight[j] =
            score(model, q, field_at(qkv, j * 3 * c + c + head * size), &weight[model->tokens + j]);
        peak = fmax(peak, weight[j]);
    }
    for (int64_t j = 0; j <= token; j++)
        sum += weight[j] = exp(weight[j] - peak);
    for (int64_t j = 0; j <= token; j++) {
        weight[j] /= sum;
        off += weight[j] * weight[model->tokens + j];
    }
    double share = term_share(model, token + 1) + stored(model, 1);
    double total[MODEL_MAX_HEAD] = {0}, carried[MODEL_MAX_HEAD] = {0};
    double spread[MODEL_MAX_HEAD] = {0};
    for (int64_t j = 0; j <= token; j++) {
        struct field v = field_at(qkv, j * 3 * c + 2 * c + head * size);
        for (int64_t i = 0; i < size; i++) {
            total[i] += weight[j] * v.value[i];
            carried[i] += square(weight[j]) * ((double)v.variance[i] + share * square(v.value[i]));
        }
    }
    for (int64_t j = 0; j <= token; j++) {
        const double *value = qkv.value + j * 3 * c + 2 * c + head * size;
        for (int64_t i = 0; i < size; i++)
            spread[i] += weight[j] * square(value[i] - total[i]);
    }
    y = field_at(y, token * c + head * size);
    for (int64_t i = 0; i < size; i++) {
        y.value[i] = total[i];
        y.variance[i] = (float)(carried[i] + spread[i] * off +
                                whole_share(model) * square(total[i]) + stored(model, total[i]));
    }
}

static void activate(const struct model *model, struct field x, int64_t count)
{
    const double scale = 0.79788456080286535588;
    for (int64_t i = 0; i < count; i++) {
        double v = x.value[i], z = tanh(scale * (v + 0.044715 * v * v * v));
        double slope = 0.5 * (1 + z) + 0.5 * v * (1 - z * z) * scale * (1 + 3 * 0.044715 * v * v);
        double variance = (double)x.variance[i];
        x.value[i] = 0.5 * v * (1 + z);
        x.variance[i] = (float)(square(slope) * variance + square(variance) +
                                square(4 * GPT_UNIT_FP32 * v) + stored(model, x.value[i]));
    }
}

static void add(const struct model *model, struct field x, struct field y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        x.value[i] += y.value[i];
        x.variance[i] =
            (float)((double)x.variance[i] + (double)y.variance[i] + stored(model, x.value[i]));
    }
}

/* ------------------------------------------------------------- sequences -- */

static int workspace_init(struct workspace *at, const struct model *model, const void *const in[])
{
    size_t c = (size_t)model->channels, tokens = (size_t)model->tokens;
    size_t rows = (tokens + ROWS - 1) / ROWS * ROWS; /* the last group's are read too */
    size_t threads = (size_t)omp_get_num_threads();
    size_t weights = COLUMNS * 4 * c * 3 / 2, scores = 2 * tokens; /* a float is half a double */
    size_t scratch = weights > scores ? weights : scores;
    size_t elements = rows * 7 * c, widened = rows * 4 * c;
    size_t bytes =
        (elements + threads * scratch) * sizeof(double) + (elements + widened) * sizeof(float);
    *at = (struct workspace){.model = model, .in = in, .memory = calloc(1, bytes)};
    if (!at->memory) return assay_error("no memory for a sequence of the reference");
    at->scratch = (double *)at->memory + elements;
    at->scratch_count = (int64_t)scratch;
    struct field all = {at->memory, (float *)(at->scratch + threads * scratch)};
    at->x = all;
    at->normed = field_at(all, (int64_t)(rows * c));
    at->attended = field_at(all, (int64_t)(2 * rows * c));
    at->wide = field_at(all, (int64_t)(3 * rows * c));
    at->widened = all.variance + elements;
    return 0;
}

static void load_sequence(const struct workspace *at, int64_t sequence)
{
    const struct model *model = at->model;
    int64_t c = model->channels;
    for (int64_t i = 0; i < model->tokens * c; i++) {
        int64_t from = sequence * model->tokens * c + i;
        double value;
        if (model->vocabulary > 0) {
            int64_t id = ((const int32_t *)at->in[MODEL_IN])[from / c];
            value = (double)gpt_load(at->in[MODEL_WTE], model->precision, id * c + i % c) +
                    (double)gpt_load(at->in[MODEL_WPE], model->precision, i);
        } else {
            value = (double)gpt_load(at->in[MODEL_IN], model->precision, from);
        }
        at->x.value[i] = value;
        at->x.variance[i] = model->vocabulary > 0 ? (float)stored(model, value) : 0;
    }
}

static void normalise_all(const struct workspace *at, int64_t norm, int64_t bias)
{
    int64_t c = at->model->channels;
#pragma omp taskloop
    for (int64_t token = 0; token < at->model->tokens; token++)
        normalise(at, norm, bias, field_at(at->x, token * c), field_at(at->normed, token * c));
}

static void run_layer(const struct workspace *at, int64_t layer)
{
    const struct model *model = at->model;
    int64_t tokens = model->tokens, c = model->channels;
    normalise_all(at, 2 * layer, model_bias_at(model, layer, MODEL_BIAS_NORM1));
    multiply(at, (struct operands){MODEL_P_QKV, layer, model_bias_at(model, layer, MODEL_BIAS_QKV)},
             at->normed, tokens, at->wide);
#pragma omp taskloop grainsize(1)
    for (int64_t token = 0; token < tokens; token++)
        for (int64_t head = 0; head < model->heads; head++)
            attend(at, token, head, at->wide, at->attended);
    multiply(at,
             (struct operands){MODEL_P_PROJ, layer, model_bias_at(model, layer, MODEL_BIAS_PROJ)},
             at->attended, tokens, at->normed);
    add(model, at->x, at->normed, tokens * c);
    normalise_all(at, 2 * layer + 1, model_bias_at(model, layer, MODEL_BIAS_NORM2));
    multiply(at, (struct operands){MODEL_P_FC, layer, model_bias_at(model, layer, MODEL_BIAS_FC)},
             at->normed, tokens, at->wide);
#pragma omp taskloop
    for (int64_t token = 0; token < tokens; token++)
        activate(model, field_at(at->wide, token * 4 * c), 4 * c);
    multiply(at, (struct operands){MODEL_P_FC2, layer, model_bias_at(model, layer, MODEL_BIAS_FC2)},
             at->wide, tokens, at->normed);
    add(model, at->x, at->normed, tokens * c);
}

/* Its `rows` rows of y, from row `first` of the sequence. */
static int run_sequence(const struct workspace *at, int64_t sequence, int64_t first, int64_t rows,
                        double *expected, double *bound)
{
    const struct model *model = at->model;
    int64_t c = model->channels, width = model_width(model);
    load_sequence(at, sequence);
    for (int64_t layer = 0; layer < model->layers; layer++)
        run_layer(at, layer);
    struct field y = field_at(at->x, first * c);
    float *variance = NULL;
    if (model->vocabulary > 0) {
        variance = malloc((size_t)(rows * width) * sizeof *variance);
        if (!variance) return assay_error("no memory for the logits of the reference");
        normalise_all(at, 2 * model->layers, model_bias_at(model, model->layers, MODEL_BIAS_NORM1));
        y = (struct field){expected, variance};
        struct field x = field_at(at->normed, first * c);
        multiply(at, (struct operands){MODEL_P_HEAD, 0, -1}, x, rows, y);
    }
    for (int64_t i = 0; i < rows * width; i++) {
        expected[i] = y.value[i];
        bound[i] = DEVIATIONS * sqrt((double)y.variance[i]);
    }
    free(variance);
    return 0;
}

int model_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                    int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    const struct model model = model_of(shape);
    int64_t first = model.decode ? model.tokens - 1 : 0, rows = model.tokens - first;
    int64_t run = rows * model_width(&model);
    struct workspace at;
    int status = 0;
    if (model.vocabulary > 0 && gpt_check_ids(in[MODEL_IN], model.rows, model.vocabulary) < 0)
        return -1;
    if (workspace_init(&at, &model, in) < 0) return -1;
    for (int64_t from = begin; from < end && status == 0; from += run)
        status = run_sequence(&at, from / run, first, rows, expected + (from - begin),
                              bound + (from - begin));
    free(at.memory);
    return status;
}
