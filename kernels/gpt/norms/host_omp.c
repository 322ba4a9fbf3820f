/*
 * host_omp.c - softmax, rmsnorm, cross_entropy and rope on all cores: a row per core, widened to
 * fp32 once into a buffer of the core, sums in fp32 in as many lanes as the vectors have.
 *
 * softmax and cross_entropy compute each exponential once and keep it in that buffer. Bytes and
 * operations: those of each operation.
 */
#include <stdlib.h>

#include "kernels/gpt/widest.h"
#include "norms.h"

enum { CHUNK = 1 << 15, BLOCK = 1024 };

/* ------------------------------------------------------------ parts of rows -- */

/* WIDEST functions are not inlined, so they take whole rows. */
WIDEST static void widen(float *restrict to, const uint16_t *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = gpt_widen(from[i]);
}

WIDEST static void narrow(uint16_t *restrict to, const float *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = gpt_narrow(from[i]);
}

/* fp16. */
WIDEST static void widen_half(float *restrict to, const uint16_t *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = half_widen(from[i]);
}

WIDEST static float largest(const float *x, int64_t n)
{
    float most = -INFINITY;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

WIDEST static float sum_squares(const float *x, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

WIDEST static void multiply(float *restrict y, const float *restrict x, float scale, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * scale;
}

WIDEST static void multiply_each(float *restrict y, const float *restrict x, float scale,
                                 const float *restrict weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * scale * weight[i];
}

/* e = exp(x - most); returns the sum, of a partial sum per block. */
static float powers(float *e, const float *x, int64_t n, float most)
{
    float sum = 0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        float part = 0;
        for (int64_t i = begin; i < n && i < begin + BLOCK; i++)
            part += e[i] = expf(x[i] - most);
        sum += part;
    }
    return sum;
}

/* Row `row` in fp32: where it lies, or widened to `room`. */
static const float *row_floats(const void *x, int64_t type, int64_t row, int64_t columns,
                               float *room)
{
    if (type == NORMS_FP32) return (const float *)x + row * columns;
    (type == NORMS_BF16 ? widen : widen_half)(room, (const uint16_t *)x + row * columns, columns);
    return room;
}

static void row_write(void *y, int64_t type, int64_t row, int64_t columns, const float *from)
{
    if (type == NORMS_FP32)
        memcpy((float *)y + row * columns, from, (size_t)columns * sizeof(float));
    else if (type == NORMS_BF16)
        narrow((uint16_t *)y + row * columns, from, columns);
    else
        for (int64_t i = 0; i < columns; i++)
            gpt_store(y, GPT_FP16, row * columns + i, from[i]);
}

/* --------------------------------------------------------------- launches -- */

/* One row, with `room` for two rows in fp32. */
typedef void row_work(struct assay_call *call, int64_t row, float *room);

static int each_row(struct assay_call *call, int64_t rows, int64_t columns, row_work *work)
{
    bool failed = false;
#pragma omp parallel if (rows * columns > CHUNK)
    {
        float *room = malloc(2 * (size_t)columns * sizeof *room);
        if (!room) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++)
            if (room) work(call, row, room);
        free(room);
    }
    return failed ? assay_error("no memory for a row") : 0;
}

static void softmax_row(struct assay_call *call, int64_t row, float *room)
{
    int64_t columns = call->shape->value[SOFTMAX_COLUMNS], type = call->shape->value[SOFTMAX_TYPE];
    const float *x = row_floats(call->buffer[SOFTMAX_X], type, row, columns, room);
    float *e = room + columns;
    float sum = powers(e, x, columns, largest(x, columns));
    multiply(room, e, 1 / sum, columns);
    row_write(call->buffer[SOFTMAX_Y], type, row, columns, room);
}

static int softmax_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return each_row(call, value[SOFTMAX_ROWS], value[SOFTMAX_COLUMNS], softmax_row);
}

static void rmsnorm_row(struct assay_call *call, int64_t row, float *room)
{
    int64_t columns = call->shape->value[RMSNORM_COLUMNS], type = call->shape->value[RMSNORM_TYPE];
    const float *x = row_floats(call->buffer[RMSNORM_X], type, row, columns, room);
    float *y = room + columns, scale = sum_squares(x, columns) / (float)columns;
    scale = 1 / sqrtf(scale + NORMS_RMSNORM_EPSILON);
    if (type == NORMS_FP32) {
        multiply_each((float *)call->buffer[RMSNORM_Y] + row * columns, x, scale,
                      call->buffer[RMSNORM_WEIGHT], columns);
        return;
    }
    multiply(y, x, scale, columns);
    const float *weight = row_floats(call->buffer[RMSNORM_WEIGHT], type, 0, columns, room);
    for (int64_t i = 0; i < columns; i++)
        y[i] *= weight[i];
    row_write(call->buffer[RMSNORM_Y], type, row, columns, y);
}

static int rmsnorm_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return each_row(call, value[RMSNORM_ROWS], value[RMSNORM_COLUMNS], rmsnorm_row);
}

static void cross_row(struct assay_call *call, int64_t row, float *room)
{
    const int64_t *value = call->shape->value;
    int64_t columns = value[CROSS_COLUMNS], type = value[CROSS_TYPE];
    int32_t target = ((const int32_t *)call->buffer[CROSS_TARGET])[row];
    const float *x = row_floats(call->buffer[CROSS_X], type, row, columns, room);
    float *e = room + columns, most = largest(x, columns), rows = (float)value[CROSS_ROWS];
    float sum = powers(e, x, columns, most);
    ((float *)call->buffer[CROSS_LOSS])[row] = logf(sum) + (most - x[target]);
    if (value[CROSS_GRADIENT] != CROSS_WITH) return;
    multiply(room, e, 1 / sum / rows, columns);
    room[target] = (e[target] / sum - 1) / rows;
    row_write(call->buffer[CROSS_DX], type, row, columns, room);
}

static int cross_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return each_row(call, value[CROSS_ROWS], value[CROSS_COLUMNS], cross_row);
}

static int rope_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    enum gpt_precision precision = norms_precision(value[ROPE_TYPE]);
    int64_t half = value[ROPE_SIZE] / 2, heads = value[ROPE_HEADS];
    bool halves = value[ROPE_PAIRS] == ROPE_HALVES;
    int64_t step = halves ? 1 : 2, other = halves ? half : 1;
    int64_t rows = value[ROPE_BATCH] * value[ROPE_TOKENS] * heads;
    const void *x = call->buffer[ROPE_X];
    void *y = call->buffer[ROPE_Y];
#pragma omp parallel for schedule(static) if (rows * half > CHUNK)
    for (int64_t row = 0; row < rows; row++) {
        int64_t token = row / heads % value[ROPE_TOKENS];
        const float *cosine = (const float *)call->buffer[ROPE_COS] + token * half;
        const float *sine = (const float *)call->buffer[ROPE_SIN] + token * half;
        for (int64_t j = 0; j < half; j++) {
            int64_t first = row * 2 * half + j * step;
            float a = gpt_load(x, precision, first), b = gpt_load(x, precision, first + other);
            gpt_store(y, precision, first, a * cosine[j] - b * sine[j]);
            gpt_store(y, precision, first + other, a * sine[j] + b * cosine[j]);
        }
    }
    return 0;
}

/* --------------------------------------------------------------- variants -- */

static const struct assay_variant softmax = {
    .operation = "row_softmax",
    .name = "host_omp",
    .summary = "one row per core, exponentials computed once",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = softmax_launch,
};
ASSAY_REGISTER_VARIANT(softmax);

static const struct assay_variant rmsnorm = {
    .operation = "rmsnorm",
    .name = "host_omp",
    .summary = "one row per core, widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = rmsnorm_launch,
};
ASSAY_REGISTER_VARIANT(rmsnorm);

static const struct assay_variant cross_entropy = {
    .operation = "cross_entropy",
    .name = "host_omp",
    .summary = "one row per core, exponentials computed once",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .setup = norms_check_host_targets,
    .launch = cross_launch,
};
ASSAY_REGISTER_VARIANT(cross_entropy);

static const struct assay_variant rope = {
    .operation = "rope",
    .name = "host_omp",
    .summary = "all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = rope_launch,
};
ASSAY_REGISTER_VARIANT(rope);
