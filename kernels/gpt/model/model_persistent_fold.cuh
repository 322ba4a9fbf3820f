/*
 * model_persistent_fold.cuh - what is brought into the outputs behind a norm (persistent_fold),
 * made in setup.
 */
#pragma once

#include "kernels/gpt/gpt.cuh"
#include "model_persistent.h"

/* Behind the norms of a layer, w scale and w shift + bias: a warp per output. */
template <typename T>
static __global__ void persistent_fold_all(const struct persistent_args args,
                                           struct persistent_fold *fold)
{
    int lane = (int)threadIdx.x % 32, c = args.channels;
    int64_t outputs = 7LL * args.layers * c + args.vocabulary;
    int64_t output = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (output >= outputs) return;
    int64_t layer = output / (7 * c), row = output % (7 * c);
    bool head = layer >= args.layers, second = !head && row >= 3 * c;
    if (head) layer = args.layers, row = output - 7LL * args.layers * c;
    if (second) row -= 3 * c;
    int product = head ? MODEL_P_HEAD : second ? MODEL_P_FC : MODEL_P_QKV;
    const T *w = (const T *)args.w[product] + (head ? row : layer * (second ? 4 : 3) * c + row) * c;
    const T *scale = (const T *)args.scale + (2 * layer + second) * c;
    const T *bias = (const T *)args.bias + layer * MODEL_BIAS_LAYER * c;
    const T *shift = bias + (second ? MODEL_BIAS_NORM2 : MODEL_BIAS_NORM1) * c;
    float scaled = 0.0f, shifted = 0.0f;
    for (int i = lane; i < c; i += 32) {
        scaled = fmaf(gpt_float(w[i]), gpt_float(scale[i]), scaled);
        shifted = fmaf(gpt_float(w[i]), gpt_float(shift[i]), shifted);
    }
    scaled = gpt_warp_sum(scaled), shifted = gpt_warp_sum(shifted);
    if (!head) shifted += gpt_float(bias[(second ? MODEL_BIAS_FC : MODEL_BIAS_QKV) * c + row]);
    if (lane == 0) fold[output] = {scaled, shifted};
}
