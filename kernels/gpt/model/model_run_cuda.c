/*
 * model_run_cuda.c - a model as a sequence of steps for a provider; see model_cuda.h.
 *
 * The residual stream stays in one place: the first layer reads the input itself, each projection
 * adds to the stream in place, and the last one writes y. Five steps per layer.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/gpt.h"
#include "model_cuda.h"

/* ----------------------------------------------------------------- memory -- */

enum { ALIGNMENT = 256 };

static int64_t padded(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int check_ids(const struct model *model, const void *ids)
{
    size_t bytes = (size_t)model->rows * sizeof(int32_t);
    int32_t *copy = malloc(bytes);
    if (!copy) return assay_error("out of memory");
    int status =
        cuda_error(cudaMemcpy(copy, ids, bytes, cudaMemcpyDeviceToHost), "copy of the ids");
    if (status == 0) status = gpt_check_ids(copy, model->rows, model->vocabulary);
    free(copy);
    return status;
}

int model_run_init(struct model_run *run, struct assay_call *call, bool cache)
{
    const struct model model = run->model = model_of(call->shape);
    int64_t unit = gpt_bytes(model.precision) * model.channels;
    run->buffer = call->buffer;
    if (model.vocabulary > 0 && check_ids(&model, call->buffer[MODEL_IN]) < 0) return -1;
    int64_t x = padded(unit * model.rows), tail = padded(unit * model.batch);
    int64_t wide = padded(4 * unit * model.rows);
    run->layer_bytes = padded(3 * unit * model.rows);
    int64_t kept = cache ? model.layers * run->layer_bytes : 0;
    int64_t bytes = 2 * x + tail + wide + kept;
    int status = device_memory(call, &run->memory, bytes, "the model");
    if (status) return status;
    char *at = run->memory;
    run->x = at;
    run->attended = at += x;
    run->tail = at += x;
    run->wide = at += tail;
    run->cache = cache ? at + wide : NULL;
    return model.codes ? model_run_decode(run, call) : 0;
}

void model_run_release(struct model_run *run)
{
    cudaFree(run->memory);
    cudaFree(run->decoded);
    run->memory = run->decoded = NULL;
}

/* ------------------------------------------------------------------ steps -- */

/* Which rows of a [batch][tokens] array: those of all tokens, or of each sequence's last token. */
struct rows {
    int64_t count, first, step;
};

static struct rows rows_of(const struct model *model, bool last)
{
    if (last) return (struct rows){model->batch, model->tokens - 1, model->tokens};
    return (struct rows){model->rows, 0, 1};
}

/* An array of rows of c. */
struct stream {
    const void *at;
    int64_t ld;
};

static const void *offset(const struct model *model, const void *base, int64_t elements)
{
    return (const char *)base + elements * gpt_bytes(model->precision);
}

static struct stream part(const struct model *model, struct stream whole, struct rows rows)
{
    return (struct stream){offset(model, whole.at, rows.first * whole.ld), rows.step * whole.ld};
}

static const void *bias_of(const struct model_run *run, int64_t layer, enum model_bias which)
{
    return offset(&run->model, run->buffer[MODEL_BIAS], model_bias_at(&run->model, layer, which));
}

static struct model_step step_of(const struct model_run *run, enum model_product product,
                                 int64_t layer, int64_t m)
{
    const struct model *model = &run->model;
    const struct model_matrix matrix = model_matrix(model, product);
    struct model_step step = {0};
    step.product = product;
    step.layer = layer;
    step.precision = model->precision;
    step.m = m;
    step.n = matrix.n;
    step.k = matrix.k;
    step.w = offset(model, run->buffer[matrix.buffer], layer * matrix.n * matrix.k);
    step.ldx = step.k;
    step.ldy = step.ldr = step.n;
    return step;
}

static void step_norm(const struct model_run *run, struct model_step *step, int64_t norm,
                      const void *shift)
{
    step->scale = offset(&run->model, run->buffer[MODEL_SCALE], norm * run->model.channels);
    step->shift = shift;
}

/* Compute q, k and v of some rows of x, and write them to the layer's array, which has all rows. */
static int run_qkv(const struct model_run *run, const struct model_provider *provider,
                   int64_t layer, struct stream x, struct rows rows, void *qkv, void *stream)
{
    const struct model *model = &run->model;
    struct model_step step = step_of(run, MODEL_P_QKV, layer, rows.count);
    step_norm(run, &step, 2 * layer, bias_of(run, layer, MODEL_BIAS_NORM1));
    step.x = x.at, step.ldx = x.ld;
    step.bias = bias_of(run, layer, MODEL_BIAS_QKV);
    step.y = (void *)offset(model, qkv, rows.first * step.n);
    step.ldy = rows.step * step.n;
    return provider->product(provider->self, &step, stream);
}

static int run_attention(const struct model_run *run, const struct model_provider *provider,
                         bool last, const void *qkv, void *stream)
{
    const struct model *model = &run->model;
    struct model_attend attend = {0};
    attend.qkv = qkv;
    attend.y = run->attended;
    attend.batch = model->batch;
    attend.tokens = model->tokens;
    attend.heads = model->heads;
    attend.size = model->size;
    attend.precision = model->precision;
    attend.last = last;
    return provider->attend(provider->self, &attend, stream);
}

/* The two steps that add to the stream: y = x + product of `from`. */
static int run_add(const struct model_run *run, const struct model_provider *provider,
                   enum model_product product, enum model_bias bias, int64_t layer, int64_t m,
                   const void *from, struct stream x, void *y, void *stream)
{
    struct model_step step = step_of(run, product, layer, m);
    step.x = from;
    step.bias = bias_of(run, layer, bias);
    step.residual = x.at, step.ldr = x.ld;
    step.y = y;
    return provider->product(provider->self, &step, stream);
}

static int run_fc(const struct model_run *run, const struct model_provider *provider, int64_t layer,
                  int64_t m, const void *x, void *stream)
{
    struct model_step step = step_of(run, MODEL_P_FC, layer, m);
    step_norm(run, &step, 2 * layer + 1, bias_of(run, layer, MODEL_BIAS_NORM2));
    step.x = x;
    step.bias = bias_of(run, layer, MODEL_BIAS_FC);
    step.gelu = true;
    step.y = run->wide;
    return provider->product(provider->self, &step, stream);
}

/* The product after the layers: normalised rows times the vocabulary. */
static int run_head(const struct model_run *run, const struct model_provider *provider, int64_t m,
                    const void *x, void *stream)
{
    const struct model *model = &run->model;
    struct model_step step = step_of(run, MODEL_P_HEAD, 0, m);
    step_norm(run, &step, 2 * model->layers, bias_of(run, model->layers, MODEL_BIAS_NORM1));
    step.x = x;
    step.y = run->buffer[MODEL_Y];
    return provider->product(provider->self, &step, stream);
}

/* The stream as the first layer finds it. */
static int run_start(const struct model_run *run, bool last, struct stream *x, void *stream)
{
    const struct model *model = &run->model;
    int64_t c = model->channels;
    if (model->vocabulary == 0) {
        struct stream whole = {run->buffer[MODEL_IN], c};
        *x = part(model, whole, rows_of(model, last));
        return 0;
    }
    *x = (struct stream){last ? run->tail : run->x, c};
    return model_embed(model, run->buffer[MODEL_IN], run->buffer[MODEL_WTE], run->buffer[MODEL_WPE],
                       last ? run->tail : run->x, last, stream);
}

int model_run_enqueue(const struct model_run *run, const struct model_provider *provider,
                      enum model_context context, void *stream)
{
    const struct model *model = &run->model;
    bool cached = context == MODEL_CACHED;
    struct stream x;
    if (run_start(run, cached, &x, stream) < 0) return -1;
    for (int64_t layer = 0; layer < model->layers; layer++) {
        bool final = layer == model->layers - 1;
        /* After the last layer's keys and values only the last token matters. */
        bool last = cached || (model->decode && final);
        struct rows rows = rows_of(model, last);
        void *qkv = run->cache ? (char *)run->cache + layer * run->layer_bytes : run->wide;
        void *out = last ? run->tail : run->x;
        void *end = final && model->vocabulary == 0 ? run->buffer[MODEL_Y] : out;
        if (run_qkv(run, provider, layer, x, rows_of(model, cached), qkv, stream) < 0) return -1;
        if (context == MODEL_PREFILL && final) return 0;
        if (run_attention(run, provider, last, qkv, stream) < 0) return -1;
        if (last && !cached) x = part(model, x, rows);
        if (run_add(run, provider, MODEL_P_PROJ, MODEL_BIAS_PROJ, layer, rows.count, run->attended,
                    x, out, stream) < 0)
            return -1;
        x = (struct stream){out, model->channels};
        if (run_fc(run, provider, layer, rows.count, x.at, stream) < 0) return -1;
        if (run_add(run, provider, MODEL_P_FC2, MODEL_BIAS_FC2, layer, rows.count, run->wide, x,
                    end, stream) < 0)
            return -1;
    }
    if (model->vocabulary == 0) return 0;
    return run_head(run, provider, model->decode ? model->batch : model->rows, x.at, stream);
}
