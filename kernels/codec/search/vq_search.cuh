/*
 * vq_search.cuh - what the searches on the GPU share: how the best of several lanes is found.
 */
#pragma once

#include "vq_search.h"

/* The highest score and its codeword; the lowest codeword where scores are equal. A NaN never
 * compares as higher, so a vector with a NaN keeps codeword 0. */
struct search_best {
    float score;
    int at;

    __device__ __forceinline__ void start()
    {
        score = -INFINITY;
        at = 0;
    }

    /* Codewords are offered in ascending order. */
    __device__ __forceinline__ void offer(float other, int codeword)
    {
        if (other > score) {
            score = other;
            at = codeword;
        }
    }

    /* Exchange with lane ^ mask, after which both lanes hold the better of the two. */
    __device__ __forceinline__ void merge(int mask)
    {
        float other = __shfl_xor_sync(0xffffffffu, score, mask);
        int codeword = __shfl_xor_sync(0xffffffffu, at, mask);
        if (other > score || (other == score && codeword < at)) {
            score = other;
            at = codeword;
        }
    }
};
