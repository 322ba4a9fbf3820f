/*
 * int8.h - what the int8 family shares: names of dims and buffers, the two quantisers, and the host
 * models that each formula is compared with bit by bit.
 *
 *   int8_quantize        y = sat8(rne(x / s + z)), one s and z for the tensor
 *   int8_quantize_token  a = max |x| of the row, s = a / 127,
 *                        y = sat8(rne(x (127 / a))), as vLLM's dynamic scheme
 *
 * rne rounds half to even; sat8 clamps to [-128, 127]; NaN gives 0.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "assay.h"

/* Dims of int8_quantize. */
enum { DIM_N, DIM_INPUT, DIM_SCALE };

/* Dims of int8_quantize_token. */
enum { TOKEN_TOKENS, TOKEN_HIDDEN, TOKEN_INPUT };

/* The choices of `input` and of `scale`. */
enum { INPUT_FP32, INPUT_BF16 };
enum { SCALE_ODD, SCALE_POW2, SCALE_ODD_MINUS128, SCALE_POW2_MINUS5, SCALES };

/* Buffers of both; only the token operation has scales. */
enum { BUF_X, BUF_Y, BUF_SCALES };

/* With an odd zero point, rounding before it is added gives a wrong result; with a scale that is no
 * power of two, dividing and multiplying by the reciprocal differ. A zero point of -128 is that of
 * data which are never negative. */
#define INT8_SCALE_ODD  0.0371f
#define INT8_SCALE_POW2 0.03125f

static inline bool int8_is_pow2(const struct assay_shape *shape)
{
    return shape->value[DIM_SCALE] == SCALE_POW2 || shape->value[DIM_SCALE] == SCALE_POW2_MINUS5;
}

static inline float int8_scale(const struct assay_shape *shape)
{
    return int8_is_pow2(shape) ? INT8_SCALE_POW2 : INT8_SCALE_ODD;
}

static inline float int8_zero(const struct assay_shape *shape)
{
    static const float zero[SCALES] = {3.0f, 3.0f, -128.0f, -5.0f};
    return zero[shape->value[DIM_SCALE]];
}

static inline enum assay_type int8_input_type(int64_t input)
{
    return input == INPUT_BF16 ? ASSAY_BF16 : ASSAY_F32;
}

/* Bytes of one input element. */
static inline int64_t int8_input_bytes(int64_t input)
{
    return input == INPUT_BF16 ? 2 : 4;
}

/* A bf16 is the upper half of an fp32. */
static inline float int8_widen(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Element `index` of an input, exactly. */
static inline float int8_load(const void *x, int64_t input, int64_t index)
{
    return input == INPUT_BF16 ? int8_widen(((const uint16_t *)x)[index])
                               : ((const float *)x)[index];
}

/* sat8(rne(q)), and 0 for NaN. Clamping first changes nothing: the ends are whole. */
static inline int8_t int8_code(float q)
{
    if (q != q) return 0;
    return (int8_t)rintf(fminf(fmaxf(q, -128.0f), 127.0f));
}

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Host models (models.c): the bits that a fixed order of fp32 operations gives,
 * each operation rounded to nearest. Signature of assay_variant.model.
 */
int int8_model_div(const struct assay_shape *shape, const void *const in[], int buffer,
                   int64_t begin, int64_t end, void *out); /* (x / s) + z */
int int8_model_rcp_muladd(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, void *out); /* (x (1 / s)) + z */
int int8_model_rcp_fma(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, void *out); /* fma(x, 1 / s, z) */
int int8_model_token(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, void *out); /* x (127 / a); a / 127 */

/* The copies that bound the family (baselines/copy_int8_host.c): the code is the
 * top byte of x as fp32, the scale of a row its first element. */
int int8_model_copy(const struct assay_shape *shape, const void *const in[], int buffer,
                    int64_t begin, int64_t end, void *out);
int int8_model_copy_token(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, void *out);

#ifdef __cplusplus
}
#endif
