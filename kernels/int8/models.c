/*
 * models.c - the int8 formulas in exactly the order of fp32 operations that the variants use, to
 * compare their results bit by bit.
 *
 * Compiled without contraction: a multiply-add is fused only where fmaf is called.
 */
#include "int8.h"

int int8_model_div(const struct assay_shape *shape, const void *const in[], int buffer,
                   int64_t begin, int64_t end, void *out)
{
    int64_t input = shape->value[DIM_INPUT];
    float scale = int8_scale(shape), zero = int8_zero(shape);
    int8_t *codes = out;
    for (int64_t i = begin; i < end; i++) {
        float quotient = int8_load(in[BUF_X], input, i) / scale;
        codes[i - begin] = int8_code(quotient + zero);
    }
    return 0;
}

int int8_model_rcp_muladd(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, void *out)
{
    int64_t input = shape->value[DIM_INPUT];
    float inverse = 1.0f / int8_scale(shape), zero = int8_zero(shape);
    int8_t *codes = out;
    for (int64_t i = begin; i < end; i++) {
        float product = int8_load(in[BUF_X], input, i) * inverse;
        codes[i - begin] = int8_code(product + zero);
    }
    return 0;
}

int int8_model_rcp_fma(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, void *out)
{
    int64_t input = shape->value[DIM_INPUT];
    float inverse = 1.0f / int8_scale(shape), zero = int8_zero(shape);
    int8_t *codes = out;
    for (int64_t i = begin; i < end; i++)
        codes[i - begin] = int8_code(fmaf(int8_load(in[BUF_X], input, i), inverse, zero));
    return 0;
}

static float row_absmax(const void *x, int64_t input, int64_t row, int64_t hidden)
{
    float absmax = 0.0f;
    for (int64_t i = row * hidden; i < (row + 1) * hidden; i++)
        absmax = fmaxf(absmax, fabsf(int8_load(x, input, i)));
    return absmax;
}

int int8_model_token(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, void *out)
{
    int64_t input = shape->value[TOKEN_INPUT];
    int64_t hidden = shape->value[TOKEN_HIDDEN];
    if (buffer == BUF_SCALES) {
        float *scales = out;
        for (int64_t row = begin; row < end; row++)
            scales[row - begin] = row_absmax(in[BUF_X], input, row, hidden) / 127.0f;
        return 0;
    }
    int8_t *codes = out;
    int64_t row = -1;
    float multiplier = 0.0f;
    for (int64_t i = begin; i < end; i++) {
        if (i / hidden != row) {
            row = i / hidden;
            float absmax = row_absmax(in[BUF_X], input, row, hidden);
            multiplier = absmax > 0.0f ? 127.0f / absmax : 0.0f;
        }
        codes[i - begin] = int8_code(int8_load(in[BUF_X], input, i) * multiplier);
    }
    return 0;
}
