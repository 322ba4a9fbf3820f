/*
 * model_reference.c - a model in double, and how far a right answer may be from it.
 *
 * The bounds of single layers cannot be chained: the worst case of each, multiplied over twelve
 * layers, would allow anything. Instead every value carries the variance of its error, which is
 * propagated to first order, as for Gaussian errors:
 *
 *   sum of w x      v = sum of w^2 (v_x + e^2 x^2) + b^2 y^2. e^2 covers the sum's own rounding:
 *                   for fp32 k u^2 (k roundings of either sign, each a u of a partial sum, which
 *                   is about the root of the sum of squares; Higham and Mary, "A new approach to
 *                   probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019);
 *                   tensor cores truncate once in eight terms, always in the same direction:
 *                   (k / 8 u)^2. tf32 truncates operands, t = 2^-11 each on average: e^2 has t^2,
 *                   and b = t, the part of it that always has the same direction. Weights are
 *                   numbers of tf32: only products of the attention have 2 t.
 *   layernorm       y_i = n_i w_i + b_i, n = (x - mean) r: v_i = r^2 w_i^2 (v_i + sum v / c^2 +
 *                   n_i^2 sum n^2 v / c^2), and a few roundings of x, mean and y.
 *   softmax, sum    v = sum p^2 v_v + sum p^2 (v - y)^2 v_s, with v_s the variance of a score:
 *                   sum of k^2 v_q + q^2 v_k, and its own rounding as for a sum. Errors of q, k and
 *                   their product that have the same direction stretch scores by 3 b.
 *   gelu            g'^2 v + v^2, the last for its curvature (at most 1.13 / sqrt 2).
 *   codes           weights are exact in bf16, as those of a bf16 model are: nothing is added.
 *   bf16            (2^-9 y)^2 wherever a layer may round what it stores, twice for a product
 *                   (before and after the bias), once for the softmax's weights. A rounding is off
 *                   by 2^-8 at most, its deviation is 2^-9.3 over the mantissas.
 *   fp16            the same with 2^-12, and 2^-25 for numbers below 2^-14.
 *
 * The bound is ten deviations. Models computed as kernels compute them came within half of it at
 * worst, over 40 seeds, with a deviation of a tenth of it (tests). In fp32 it finds what moves y by
 * 2^-20: tf32 in one product, the error function in gelu. In tf32 and bf16 the error function, and
 * scores that are too large by 1 %, move y by less than truncating or rounding operands does, which
 * is right there; the bound finds a wrong epsilon, mask, bias, head or layer, and the root mean
 * square of all errors finds products of bf16 in tf32 (tests).
 *
 * A large model is checked at two sequences, which would be two tasks. So each step of a sequence
 * is divided into tasks for the team of threads that called the reference.
 */
#include <stdlib.h>

#include "model_expect.h"

enum { DEVIATIONS = 10 };

/* ----------------------------------------------------------------- layers -- */

static void normalise(const struct model_workspace *at, int64_t norm, int64_t bias,
                      struct model_field x, struct model_field y)
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
        y.variance[i] = (float)(square(r * w) * carried + own + model_stored(model, v));
    }
}

/* The score of a key, and the variance of its errors, without those that have the same direction.
 */
static double score(const struct model *model, struct model_field q, struct model_field k,
                    double *variance)
{
    double sum = 0, squares = 0, carried = 0, scale = 1 / sqrt((double)model->size);
    for (int64_t i = 0; i < model->size; i++) {
        sum += q.value[i] * k.value[i];
        squares += square(q.value[i] * k.value[i]);
        carried +=
            square(k.value[i]) * (double)q.variance[i] + square(q.value[i]) * (double)k.variance[i];
    }
    *variance =
        square(scale) *
        (carried +
         (model_term_share(model, model->size, MODEL_OF_SCORES) + square(8 * GPT_UNIT_FP32)) *
             squares +
         square(8 * GPT_UNIT_FP32 * sum));
    return sum * scale;
}

/* Weights of keys 0 to `last`, which add up to 1, from their scores; returns the mean score. */
static double weigh(double *weight, const double *scores, int64_t last)
{
    double peak = -INFINITY, sum = 0, mean = 0;
    for (int64_t j = 0; j <= last; j++)
        peak = fmax(peak, scores[j]);
    for (int64_t j = 0; j <= last; j++)
        sum += weight[j] = exp(scores[j] - peak);
    for (int64_t j = 0; j <= last; j++) {
        weight[j] /= sum;
        mean += weight[j] * scores[j];
    }
    return mean;
}

/* One query and head. `qkv` is [tokens][3][heads][size]. */
static void attend(const struct model_workspace *at, int64_t token, int64_t head,
                   struct model_field qkv, struct model_field y)
{
    const struct model *model = at->model;
    int64_t c = model->channels, size = model->size;
    struct model_field q = model_field_at(qkv, token * 3 * c + head * size);
    double *weight = model_scratch_of(at), *scores = weight + model->tokens;
    double *off = scores + model->tokens;
    for (int64_t j = 0; j <= token; j++)
        scores[j] = score(model, q, model_field_at(qkv, j * 3 * c + c + head * size), &off[j]);
    double mean = weigh(weight, scores, token);
    double share = model_term_share(model, token + 1, MODEL_OF_SCORES) + model_stored(model, 1);
    double total[MODEL_MAX_HEAD] = {0}, carried[MODEL_MAX_HEAD] = {0};
    double moved[MODEL_MAX_HEAD] = {0}, stretched[MODEL_MAX_HEAD] = {0};
    for (int64_t j = 0; j <= token; j++) {
        struct model_field v = model_field_at(qkv, j * 3 * c + 2 * c + head * size);
        for (int64_t i = 0; i < size; i++) {
            total[i] += weight[j] * v.value[i];
            carried[i] += square(weight[j]) * ((double)v.variance[i] + share * square(v.value[i]));
        }
    }
    for (int64_t j = 0; j <= token; j++) {
        const double *value = qkv.value + j * 3 * c + 2 * c + head * size;
        double turned = square(weight[j]) * off[j], part = weight[j] * (scores[j] - mean);
        for (int64_t i = 0; i < size; i++) {
            moved[i] += turned * square(value[i] - total[i]);
            stretched[i] += part * (value[i] - total[i]);
        }
    }
    y = model_field_at(y, token * c + head * size);
    double whole = model_whole_share(model, MODEL_OF_SCORES);
    for (int64_t i = 0; i < size; i++) {
        y.value[i] = total[i];
        y.variance[i] =
            (float)(carried[i] + moved[i] + whole * (9 * square(stretched[i]) + square(total[i])) +
                    model_stored(model, total[i]));
    }
}

static void activate(const struct model *model, struct model_field x, int64_t count)
{
    const double scale = 0.79788456080286535588;
    for (int64_t i = 0; i < count; i++) {
        double v = x.value[i], z = tanh(scale * (v + 0.044715 * v * v * v));
        double slope = 0.5 * (1 + z) + 0.5 * v * (1 - z * z) * scale * (1 + 3 * 0.044715 * v * v);
        double variance = (double)x.variance[i];
        x.value[i] = 0.5 * v * (1 + z);
        x.variance[i] = (float)(square(slope) * variance + square(variance) +
                                square(4 * GPT_UNIT_FP32 * v) + model_stored(model, x.value[i]));
    }
}

static void add(const struct model *model, struct model_field x, struct model_field y,
                int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        x.value[i] += y.value[i];
        x.variance[i] = (float)((double)x.variance[i] + (double)y.variance[i] +
                                model_stored(model, x.value[i]));
    }
}

/* ------------------------------------------------------------- sequences -- */

static int workspace_init(struct model_workspace *at, const struct model *model,
                          const void *const in[])
{
    size_t c = (size_t)model->channels, tokens = (size_t)model->tokens;
    size_t rows = (tokens + MODEL_EXPECT_ROWS - 1) / MODEL_EXPECT_ROWS *
                  MODEL_EXPECT_ROWS; /* the whole last group is read */
    size_t threads = (size_t)omp_get_num_threads();
    size_t weights = MODEL_EXPECT_COLUMNS * 4 * c * 3 / 2,
           scores = 3 * tokens; /* a float is half a double */
    size_t scratch = weights > scores ? weights : scores;
    size_t elements = rows * 7 * c, widened = rows * 4 * c;
    size_t bytes =
        (elements + threads * scratch) * sizeof(double) + (elements + widened) * sizeof(float);
    *at = (struct model_workspace){.model = model, .in = in, .memory = calloc(1, bytes)};
    if (!at->memory) return assay_error("no memory for a sequence of the reference");
    at->scratch = (double *)at->memory + elements;
    at->scratch_count = (int64_t)scratch;
    struct model_field all = {at->memory, (float *)(at->scratch + threads * scratch)};
    at->x = all;
    at->normed = model_field_at(all, (int64_t)(rows * c));
    at->attended = model_field_at(all, (int64_t)(2 * rows * c));
    at->wide = model_field_at(all, (int64_t)(3 * rows * c));
    at->widened = all.variance + elements;
    for (int p = 0; model->codes && p < MODEL_CODE_PRODUCTS; p++)
        if (model_coded(model, in, (enum model_product)p, &at->coded[p]) < 0) return -1;
    return 0;
}

static void load_sequence(const struct model_workspace *at, int64_t sequence)
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
        at->x.variance[i] = model->vocabulary > 0 ? (float)model_stored(model, value) : 0;
    }
}

static void normalise_all(const struct model_workspace *at, int64_t norm, int64_t bias)
{
    int64_t c = at->model->channels;
#pragma omp taskloop
    for (int64_t token = 0; token < at->model->tokens; token++)
        normalise(at, norm, bias, model_field_at(at->x, token * c),
                  model_field_at(at->normed, token * c));
}

static void run_layer(const struct model_workspace *at, int64_t layer)
{
    const struct model *model = at->model;
    int64_t tokens = model->tokens, c = model->channels;
    normalise_all(at, 2 * layer, model_bias_at(model, layer, MODEL_BIAS_NORM1));
    model_multiply(
        at,
        (struct model_operands){MODEL_P_QKV, layer, model_bias_at(model, layer, MODEL_BIAS_QKV)},
        at->normed, tokens, at->wide);
#pragma omp taskloop grainsize(1)
    for (int64_t token = 0; token < tokens; token++)
        for (int64_t head = 0; head < model->heads; head++)
            attend(at, token, head, at->wide, at->attended);
    model_multiply(
        at,
        (struct model_operands){MODEL_P_PROJ, layer, model_bias_at(model, layer, MODEL_BIAS_PROJ)},
        at->attended, tokens, at->normed);
    add(model, at->x, at->normed, tokens * c);
    normalise_all(at, 2 * layer + 1, model_bias_at(model, layer, MODEL_BIAS_NORM2));
    model_multiply(
        at, (struct model_operands){MODEL_P_FC, layer, model_bias_at(model, layer, MODEL_BIAS_FC)},
        at->normed, tokens, at->wide);
#pragma omp taskloop
    for (int64_t token = 0; token < tokens; token++)
        activate(model, model_field_at(at->wide, token * 4 * c), 4 * c);
    model_multiply(
        at,
        (struct model_operands){MODEL_P_FC2, layer, model_bias_at(model, layer, MODEL_BIAS_FC2)},
        at->wide, tokens, at->normed);
    add(model, at->x, at->normed, tokens * c);
}

/* What is expected of one sequence: `rows` rows of y, from row `first` on. */
static int run_sequence(const struct model_workspace *at, int64_t sequence, int64_t first,
                        int64_t rows, double *expected, double *bound)
{
    const struct model *model = at->model;
    int64_t c = model->channels, width = model_width(model);
    load_sequence(at, sequence);
    for (int64_t layer = 0; layer < model->layers; layer++)
        run_layer(at, layer);
    struct model_field y = model_field_at(at->x, first * c);
    float *variance = NULL;
    if (model->vocabulary > 0) {
        variance = malloc((size_t)(rows * width) * sizeof *variance);
        if (!variance) return assay_error("no memory for the logits of the reference");
        normalise_all(at, 2 * model->layers, model_bias_at(model, model->layers, MODEL_BIAS_NORM1));
        y = (struct model_field){expected, variance};
        struct model_field x = model_field_at(at->normed, first * c);
        model_multiply(at, (struct model_operands){MODEL_P_HEAD, 0, -1}, x, rows, y);
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
    struct model_workspace at;
    int status = 0;
    if (model.vocabulary > 0 && gpt_check_ids(in[MODEL_IN], model.rows, model.vocabulary) < 0)
        return -1;
    if (workspace_init(&at, &model, in) < 0) {
        free(at.memory);
        return -1;
    }
    for (int64_t from = begin; from < end && status == 0; from += run)
        status = run_sequence(&at, from / run, first, rows, expected + (from - begin),
                              bound + (from - begin));
    free(at.memory);
    return status;
}
