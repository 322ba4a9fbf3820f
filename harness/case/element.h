/*
 * element.h - converts elements of buffers to double and back, in one text for host and device
 * code.
 *
 * Floats of 16 and 8 bits are rounded from the bits of the double in one step: going through
 * float would round some values twice, to the wrong neighbour.
 *
 * The 8-bit formats are those of the "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0:
 * e5m2 follows IEEE 754; e4m3 uses the codes of infinity and all but one of NaN for numbers. They
 * saturate, as a conversion of CUDA does that is told __NV_SATFINITE.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "assay.h"

/* A float of 16 or 8 bits: sign, exponent, fraction. Magnitudes are codes without the sign. */
struct narrow_format {
    uint16_t sign; /* its bit */
    int fraction_bits;
    int least_exponent;   /* of normal numbers: 1 - bias */
    uint16_t infinity;    /* its magnitude; 0: there is none */
    uint16_t least_nan;   /* this magnitude and those above it are NaN */
    uint16_t beyond;      /* what is too large becomes */
    double double_factor; /* 2^(bias of double - bias of this format) */
};

enum { DOUBLE_FRACTION_BITS = 52, DOUBLE_BIAS = 1023 };

/* Compiled once for each format: checks of 8-bit values spend half their time here. */
#ifdef __CUDACC__
#define FOR_EACH_FORMAT static __host__ __device__ __forceinline__
#else
#define FOR_EACH_FORMAT static inline __attribute__((always_inline))
#endif

/* Shifted into the fields of a double, the bits are right except for the bias of the
 * exponent, which one exact multiplication corrects; this works for subnormals too. */
FOR_EACH_FORMAT double narrow_load(struct narrow_format format, uint16_t code)
{
    uint16_t magnitude = code & (format.sign - 1);
    uint64_t bits = (uint64_t)magnitude << (DOUBLE_FRACTION_BITS - format.fraction_bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    value *= format.double_factor;
    if (format.infinity && magnitude == format.infinity) value = INFINITY;
    if (magnitude >= format.least_nan) value = NAN;
    return code & format.sign ? -value : value;
}

/* significand / 2^drop rounded to an integer, ties to even. */
FOR_EACH_FORMAT uint64_t round_off(uint64_t significand, int drop)
{
    /* 2^53 is above every significand, so the quotient is below one half. */
    if (drop > DOUBLE_FRACTION_BITS + 1) return 0;
    uint64_t whole = significand >> drop;
    uint64_t rest = significand & ((UINT64_C(1) << drop) - 1);
    uint64_t half = UINT64_C(1) << (drop - 1);
    return whole + (rest > half || (rest == half && whole % 2 == 1));
}

FOR_EACH_FORMAT uint16_t narrow_round(struct narrow_format format, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = signbit(value) ? format.sign : 0;
    if (isnan(value)) return sign | (format.sign - 1);
    if (isinf(value)) return sign | format.beyond;

    const uint64_t hidden_bit = UINT64_C(1) << DOUBLE_FRACTION_BITS;
    int exponent = (int)(bits >> DOUBLE_FRACTION_BITS & 0x7ff) - DOUBLE_BIAS;
    uint64_t significand = (bits & (hidden_bit - 1)) | hidden_bit;
    int drop = DOUBLE_FRACTION_BITS - format.fraction_bits;
    int above = exponent - format.least_exponent;
    if (above < 0) {
        drop -= above;
        above = 0;
    }
    /* The hidden bit adds one to the exponent field, and so does a carry: the largest
     * subnormal rounds up to the smallest normal, the largest normal to what is beyond. */
    uint64_t magnitude = ((uint64_t)above << format.fraction_bits) + round_off(significand, drop);
    if (magnitude > format.beyond) magnitude = format.beyond;
    return (uint16_t)(sign | magnitude);
}

FOR_EACH_FORMAT struct narrow_format format_f16(void)
{
    const struct narrow_format format = {0x8000, 10, -14, 0x7c00, 0x7c01, 0x7c00, 0x1p1008};
    return format;
}

FOR_EACH_FORMAT struct narrow_format format_bf16(void)
{
    const struct narrow_format format = {0x8000, 7, -126, 0x7f80, 0x7f81, 0x7f80, 0x1p896};
    return format;
}

FOR_EACH_FORMAT struct narrow_format format_e4m3(void)
{
    const struct narrow_format format = {0x80, 3, -6, 0, 0x7f, 0x7e, 0x1p1016};
    return format;
}

FOR_EACH_FORMAT struct narrow_format format_e5m2(void)
{
    const struct narrow_format format = {0x80, 2, -14, 0x7c, 0x7d, 0x7b, 0x1p1008};
    return format;
}

/* assay_load and assay_store. */
FOR_EACH_FORMAT double element_load(enum assay_type type, const void *base, int64_t i)
{
    switch (type) {
    case ASSAY_F32:
        return ((const float *)base)[i];
    case ASSAY_F64:
        return ((const double *)base)[i];
    case ASSAY_I8:
        return ((const int8_t *)base)[i];
    case ASSAY_U8:
        return ((const uint8_t *)base)[i];
    case ASSAY_I16:
        return ((const int16_t *)base)[i];
    case ASSAY_I32:
        return ((const int32_t *)base)[i];
    case ASSAY_U32:
        return ((const uint32_t *)base)[i];
    case ASSAY_I64:
        return (double)((const int64_t *)base)[i];
    case ASSAY_F16:
        return narrow_load(format_f16(), ((const uint16_t *)base)[i]);
    case ASSAY_BF16:
        return narrow_load(format_bf16(), ((const uint16_t *)base)[i]);
    case ASSAY_E4M3:
        return narrow_load(format_e4m3(), ((const uint8_t *)base)[i]);
    case ASSAY_E5M2:
        return narrow_load(format_e5m2(), ((const uint8_t *)base)[i]);
    case ASSAY_TYPES:
        break;
    }
    return NAN;
}

FOR_EACH_FORMAT void element_store(enum assay_type type, void *base, int64_t i, double value)
{
    switch (type) {
    case ASSAY_F32:
        ((float *)base)[i] = (float)value;
        break;
    case ASSAY_F64:
        ((double *)base)[i] = value;
        break;
    case ASSAY_I8:
        ((int8_t *)base)[i] = (int8_t)value;
        break;
    case ASSAY_U8:
        ((uint8_t *)base)[i] = (uint8_t)value;
        break;
    case ASSAY_I16:
        ((int16_t *)base)[i] = (int16_t)value;
        break;
    case ASSAY_I32:
        ((int32_t *)base)[i] = (int32_t)value;
        break;
    case ASSAY_U32:
        ((uint32_t *)base)[i] = (uint32_t)value;
        break;
    case ASSAY_I64:
        ((int64_t *)base)[i] = (int64_t)value;
        break;
    case ASSAY_F16:
        ((uint16_t *)base)[i] = narrow_round(format_f16(), value);
        break;
    case ASSAY_BF16:
        ((uint16_t *)base)[i] = narrow_round(format_bf16(), value);
        break;
    case ASSAY_E4M3:
        ((uint8_t *)base)[i] = (uint8_t)narrow_round(format_e4m3(), value);
        break;
    case ASSAY_E5M2:
        ((uint8_t *)base)[i] = (uint8_t)narrow_round(format_e5m2(), value);
        break;
    case ASSAY_TYPES:
        break;
    }
}
