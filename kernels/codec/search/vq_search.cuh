/*
 * vq_search.cuh - what the searches on the GPU share: how the best of several lanes
 * is found, and the set-up of kernels that keep the codebook in shared memory.
 */
#pragma once

#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "vq_search.h"

/* The highest score and its codeword, the lowest where scores are equal. A NaN is
 * never higher, so a vector with one keeps codeword 0. */
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

    /* Afterwards both lanes of each pair that `mask` joins hold the better of the two. */
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

/* What a launch needs to know, found in setup. */
struct search_plan {
    int processors;
};

static inline int search_plan_make(struct assay_call *call)
{
    int processors = assay_card()->multiprocessors;
    struct search_plan *plan = (struct search_plan *)malloc(sizeof *plan);
    if (!plan) return assay_error("out of memory");
    plan->processors = processors;
    call->state = plan;
    return 0;
}

static inline int search_processors(const struct assay_call *call)
{
    return ((const struct search_plan *)call->state)->processors;
}

static inline void search_plan_free(struct assay_call *call)
{
    free(call->state);
}
