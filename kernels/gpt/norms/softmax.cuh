/*
 * softmax.cuh - the largest element of a row and the sum of its exponentials, for softmax and
 * cross_entropy as operations on rows (kernels/gpt/row). Each part of a row has its own largest
 * element; joining two scales the sum of the one with the smaller (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018, section 3).
 */
#pragma once

#include <float.h>

#include "kernels/gpt/row/row_launch.cuh"
#include "norms.h"

/* The largest element, and the sum of exp(x - most). `most` is finite, so that masked elements
 * alone give exp(-inf). */
struct softmax_part {
    float most, sum;
};

/* What both operations have as operations on rows: their sums, and neither weights nor biases. */
template <typename T> struct softmax_sums : row_plain {
    typedef T element;
    typedef softmax_part part;
    struct gain {
    };

    static __device__ __forceinline__ part nothing()
    {
        return {-FLT_MAX, 0.0f};
    }
    static __device__ __forceinline__ part single(float x)
    {
        return {x, 1.0f};
    }
    static __device__ __forceinline__ part join(part a, part b)
    {
        float most = fmaxf(a.most, b.most);
        return {most, a.sum * row_power(a.most, most) + b.sum * row_power(b.most, most)};
    }
    template <int LANES, class Each> static __device__ __forceinline__ part measure(Each each)
    {
        float most = -FLT_MAX, sum = 0.0f;
        each([&](float x) { most = fmaxf(most, x); });
        most = row_max<LANES>(most);
        each([&](float x) { sum += row_power(x, most); });
        return {most, row_sum<LANES>(sum)};
    }
    template <class Args> static __device__ __forceinline__ gain gains(const Args &, int, int, bool)
    {
        return {};
    }
    template <class Args> static __device__ __forceinline__ const T *gain_array(const Args &, int)
    {
        return nullptr;
    }
    static __device__ __forceinline__ gain gain_of(const uint4 *)
    {
        return {};
    }
};

/* What outputs are made with: `scale` times the softmax. */
struct softmax_closed {
    float most, scale;
};

static __device__ __forceinline__ softmax_closed softmax_close(softmax_part whole, float scale)
{
    return {whole.most, __fdividef(scale, whole.sum)};
}

static __device__ __forceinline__ float softmax_out(softmax_closed row, float x)
{
    return row_power(x, row.most) * row.scale;
}
