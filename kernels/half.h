/* half.h - the bits of an fp16 as fp32, exactly, written so that it becomes vector instructions. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Of a normal number the exponent's bias changes, from 15 to 127. A denormal is a whole number of
 * 2^-24: as a denormal of fp32, to be multiplied, it would cost a processor 150 cycles. */
static inline float half_widen(uint16_t half)
{
    uint32_t magnitude = half & 0x7fff;
    uint32_t normal = (magnitude << 13) + (112u << 23), small;
    float counted = (float)(int32_t)magnitude * 0x1p-24f, value;
    memcpy(&small, &counted, sizeof small);
    uint32_t bits = magnitude < 0x0400 ? small : normal;
    bits |= magnitude >= 0x7c00 ? 0x7f800000u : 0;
    bits |= (uint32_t)(half & 0x8000) << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}
