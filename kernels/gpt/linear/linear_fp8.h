/*
 * linear_fp8.h - dims and buffers of the operation `linear_fp8`, and the scale of a group of terms.
 *
 *   y = bf16(sum over groups g of sx sw sum over l in g of x[i, l] w[j, l])
 */
#pragma once

#include "assay.h"

enum linear_fp8_dim { LFP8_M, LFP8_N, LFP8_K, LFP8_SCALE };
enum linear_fp8_scale { LFP8_TENSOR, LFP8_BLOCK };
enum linear_fp8_buffer { LFP8_X, LFP8_W, LFP8_X_SCALES, LFP8_W_SCALES, LFP8_Y };

/* Terms of a group, and rows of w that share a scale, where scales are of blocks. */
enum { LFP8_GROUP = 128 };

static inline int64_t lfp8_groups(int64_t count)
{
    return (count + LFP8_GROUP - 1) / LFP8_GROUP;
}

/* Places of the scales of x[row, l] and of w[row, l], for l in group `group`. */
static inline int64_t lfp8_x_scale(const struct assay_shape *shape, int64_t row, int64_t group)
{
    if (shape->value[LFP8_SCALE] == LFP8_TENSOR) return 0;
    return row * lfp8_groups(shape->value[LFP8_K]) + group;
}

static inline int64_t lfp8_w_scale(const struct assay_shape *shape, int64_t row, int64_t group)
{
    if (shape->value[LFP8_SCALE] == LFP8_TENSOR) return 0;
    return row / LFP8_GROUP * lfp8_groups(shape->value[LFP8_K]) + group;
}
