/*
 * linear_fp8_host.c - `linear_fp8` on the host: in its simplest form on one core, and on all cores
 * with dot products in vectors.
 *
 * Operations: 2 m n k in fp32. Bytes: those of the operation; w once per row, or per tile of rows.
 */
#include <string.h>
#include <stdlib.h>

#include "kernels/gpt/widest.h"
#include "linear_fp8.h"

enum { COLUMNS = 64 };

static float factor_of(const struct assay_call *call, int64_t row, int64_t column, int64_t group)
{
    const float *x = call->buffer[LFP8_X_SCALES], *w = call->buffer[LFP8_W_SCALES];
    return x[lfp8_x_scale(call->shape, row, group)] * w[lfp8_w_scale(call->shape, column, group)];
}

static int scalar_launch(struct assay_call *call)
{
    int64_t n = call->shape->value[LFP8_N], k = call->shape->value[LFP8_K];
    for (int64_t row = 0; row < call->shape->value[LFP8_M]; row++)
        for (int64_t column = 0; column < n; column++) {
            float sum = 0, part = 0;
            for (int64_t l = 0; l < k; l++) {
                part += (float)assay_load(ASSAY_E4M3, call->buffer[LFP8_X], row * k + l) *
                        (float)assay_load(ASSAY_E4M3, call->buffer[LFP8_W], column * k + l);
                if ((l + 1) % LFP8_GROUP != 0 && l + 1 != k) continue;
                sum += factor_of(call, row, column, l / LFP8_GROUP) * part;
                part = 0;
            }
            assay_store(ASSAY_BF16, call->buffer[LFP8_Y], row * n + column, (double)sum);
        }
    return 0;
}

/* The bits of an e4m3 as fp32: at fp32's places all fields are right but the exponent's bias, 7 in
 * place of 127. A denormal is a whole number of 2^-9. */
static inline float widen(uint8_t code)
{
    uint32_t magnitude = code & 0x7f, small, bits;
    float counted = (float)(int32_t)magnitude * 0x1p-9f, value;
    memcpy(&small, &counted, sizeof small);
    bits = magnitude < 8 ? small : (magnitude << 20) + (120u << 23);
    bits = magnitude == 0x7f ? 0x7fc00000u : bits;
    bits |= (uint32_t)(code & 0x80) << 24;
    memcpy(&value, &bits, sizeof value);
    return value;
}

WIDEST static void widen_all(const uint8_t *restrict codes, float *restrict out, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = widen(codes[i]);
}

WIDEST static float dot(const float *a, const float *b, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static float sum_of(const struct assay_call *call, const float *x, const float *w, int64_t row,
                    int64_t column)
{
    int64_t k = call->shape->value[LFP8_K];
    float sum = 0;
    for (int64_t first = 0; first < k; first += LFP8_GROUP) {
        int64_t count = k - first < LFP8_GROUP ? k - first : LFP8_GROUP;
        sum += factor_of(call, row, column, first / LFP8_GROUP) * dot(x + first, w + first, count);
    }
    return sum;
}

/* Columns [first, last) of y; `wide` has room for as many rows of w, and one of x. */
static void columns(const struct assay_call *call, int64_t first, int64_t last, float *wide)
{
    int64_t n = call->shape->value[LFP8_N], k = call->shape->value[LFP8_K];
    float *x = wide + COLUMNS * k;
    widen_all((const uint8_t *)call->buffer[LFP8_W] + first * k, wide, (last - first) * k);
    for (int64_t row = 0; row < call->shape->value[LFP8_M]; row++) {
        widen_all((const uint8_t *)call->buffer[LFP8_X] + row * k, x, k);
        for (int64_t column = first; column < last; column++)
            assay_store(ASSAY_BF16, call->buffer[LFP8_Y], row * n + column,
                        (double)sum_of(call, x, wide + (column - first) * k, row, column));
    }
}

static int omp_launch(struct assay_call *call)
{
    int64_t n = call->shape->value[LFP8_N], k = call->shape->value[LFP8_K];
    bool failed = false;
#pragma omp parallel
    {
        float *wide = malloc((COLUMNS + 1) * (size_t)k * sizeof *wide);
        if (!wide) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < n; first += COLUMNS)
            if (wide) columns(call, first, first + COLUMNS < n ? first + COLUMNS : n, wide);
        free(wide);
    }
    return failed ? assay_error("out of memory") : 0;
}

static const struct assay_variant scalar = {
    .operation = "linear_fp8",
    .name = "host_scalar",
    .summary = "three loops on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = scalar_launch,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant omp = {
    .operation = "linear_fp8",
    .name = "host_omp",
    .summary = "all cores, dot products in the widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = omp_launch,
};
ASSAY_REGISTER_VARIANT(omp);
