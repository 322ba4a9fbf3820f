/*
 * fp8.h - what the variants of fp8_quantize share: dims, buffers, formats, and conversions written
 * so that they become vector instructions.
 *
 *   a = the largest finite |x| of a group, at least FP8_FLOOR
 *   scale = a / M,  y = code(x (M / a)),  M the largest number of the format
 *
 * Every step is in fp32, rounded to nearest; code() rounds to nearest even and saturates.
 */
#pragma once

#include <string.h>

#include "assay.h"
#include "kernels/half.h"

/* For kernels too. */
#ifdef __CUDACC__
#define FP8_FUNCTION static __host__ __device__ __forceinline__
#else
#define FP8_FUNCTION static inline
#endif

enum fp8_dim { FP8_ROWS, FP8_COLUMNS, FP8_INPUT, FP8_FORMAT, FP8_SCALE, FP8_DATA };
enum fp8_input { FP8_FP32, FP8_BF16, FP8_FP16 };
enum fp8_format_choice { FP8_E4M3, FP8_E5M2 };
enum fp8_scale_choice { FP8_PER_TOKEN, FP8_PER_128 };
enum fp8_data { FP8_PLAIN, FP8_SPECIAL };
enum fp8_buffer { FP8_X, FP8_Y, FP8_SCALES };

/* Columns of a group with a scale of its own (FP8_PER_128); a row's last may have fewer. */
enum { FP8_BLOCK = 128 };

/* So that no quotient is infinite and no scale is 0 or a denormal. */
#define FP8_FLOOR 0x1p-100f

struct fp8_format {
    enum assay_type type;
    float most;        /* the largest number, M */
    int fraction_bits; /* of normal numbers */
    int bias;
};

static inline struct fp8_format fp8_format(int64_t choice)
{
    static const struct fp8_format formats[] = {
        [FP8_E4M3] = {ASSAY_E4M3, 448.0f, 3, 7}, [FP8_E5M2] = {ASSAY_E5M2, 57344.0f, 2, 15}};
    return formats[choice];
}

static inline enum assay_type fp8_input_type(int64_t input)
{
    return input == FP8_BF16 ? ASSAY_BF16 : input == FP8_FP16 ? ASSAY_F16 : ASSAY_F32;
}

/* Columns of a group of this shape, and groups of a row. */
static inline int64_t fp8_group(const struct assay_shape *shape)
{
    bool is_token = shape->value[FP8_SCALE] == FP8_PER_TOKEN;
    return is_token ? shape->value[FP8_COLUMNS] : (int64_t)FP8_BLOCK;
}

static inline int64_t fp8_groups(const struct assay_shape *shape)
{
    return (shape->value[FP8_COLUMNS] + fp8_group(shape) - 1) / fp8_group(shape);
}

FP8_FUNCTION uint32_t fp8_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

FP8_FUNCTION float fp8_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An element as fp32, exactly. */
static inline float fp8_widen_bf16(uint16_t half)
{
    return fp8_float((uint32_t)half << 16);
}

/* The magnitude of a finite number as the integer of its bits, which orders like it; 0 for
 * infinities and NaN. */
static inline uint32_t fp8_magnitude(float value)
{
    uint32_t bits = fp8_bits(value) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0;
}

/* The code of q. A normal number is rounded by adding just below half of what is cut off. Adding
 * `magic`, whose last place is the smallest step of the format, rounds the others. */
FP8_FUNCTION uint8_t fp8_code(float q, float most, int fraction_bits, int bias)
{
    int cut = 23 - fraction_bits;
    float magic = fp8_float((uint32_t)(127 + 24 - bias - fraction_bits) << 23);
    uint32_t sign = fp8_bits(q) >> 24 & 0x80;
    float size = fp8_float(fp8_bits(q) & 0x7fffffffu);
    float held = size > most ? most : size;
    uint32_t bits = fp8_bits(held);
    uint32_t normal = ((bits + (1u << (cut - 1)) - 1 + (bits >> cut & 1)) >> cut) -
                      ((uint32_t)(127 - bias) << fraction_bits);
    uint32_t small = fp8_bits(held + magic) - fp8_bits(magic);
    uint32_t code = bits < (uint32_t)(128 - bias) << 23 ? small : normal;
    code = size != size ? 0x7f : code;
    return (uint8_t)(code | sign);
}

#ifdef __cplusplus
extern "C" {
#endif

/* The exact bits, for all variants: each step is rounded as IEEE 754 says. Signature of
 * assay_variant.model. */
int fp8_model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
              int64_t end, void *out);

#ifdef __cplusplus
}
#endif
