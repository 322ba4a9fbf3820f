/*
 * embedding.cuh - the argument of the embedding kernels, and the check of the ids that each variant
 * makes in its setup.
 */
#pragma once

#include <stdlib.h>

#include "kernels/gpt/gpt.cuh"

struct embedding {
    const int32_t *ids;
    const float *wte, *wpe;
    float *y;
    int64_t rows;
    int tokens, channels;
};

static inline struct embedding embedding_args(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return (struct embedding){(const int32_t *)call->buffer[EMBEDDING_IDS],
                              (const float *)call->buffer[EMBEDDING_WTE],
                              (const float *)call->buffer[EMBEDDING_WPE],
                              (float *)call->buffer[EMBEDDING_Y],
                              value[EMBEDDING_BATCH] * value[EMBEDDING_TOKENS],
                              (int)value[EMBEDDING_TOKENS],
                              (int)value[EMBEDDING_CHANNELS]};
}

/* 0, or -1 with assay_error where an id is out of range. */
static inline int embedding_check(const struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    size_t bytes = sizeof(int32_t) * (size_t)args.rows;
    int32_t *ids = (int32_t *)malloc(bytes);
    if (!ids) return assay_error("no memory for a copy of the ids");
    int status = assay_cuda(cudaMemcpy(ids, args.ids, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (status == 0)
        status = gpt_check_ids(ids, args.rows, call->shape->value[EMBEDDING_VOCABULARY]);
    free(ids);
    return status;
}
