/*
 * channel_attention.h - the dims and buffers of the operation `channel_attention`, and its kernel
 * for the network.
 *
 * x and y are [leaves][channels][voxels]; s is [channels][channels / 4], s_bias [channels / 4], e
 * [channels / 4][channels], e_bias [channels].
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum attention_dim { ATTENTION_LEAVES, ATTENTION_CHANNELS, ATTENTION_VOXELS };
enum attention_buffer {
    ATTENTION_X,
    ATTENTION_S,
    ATTENTION_S_BIAS,
    ATTENTION_E,
    ATTENTION_E_BIAS,
    ATTENTION_Y,
};
enum { ATTENTION_SQUEEZE = 4, ATTENTION_MOST_CHANNELS = 256 };

/* The sizes that follow from a shape, and the operands; y may be x. */
struct attention_job {
    int64_t leaves;
    int channels, hidden, voxels;
    int unused; /* no bytes without a value: a gate compares arguments whole */
    const float *x, *s, *s_bias, *e, *e_bias;
    float *y;
};

static inline struct attention_job attention_job(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    struct attention_job job;
    job.unused = 0;
    job.leaves = value[ATTENTION_LEAVES];
    job.channels = (int)value[ATTENTION_CHANNELS];
    job.hidden = job.channels / ATTENTION_SQUEEZE;
    job.voxels = (int)value[ATTENTION_VOXELS];
    job.x = (const float *)call->buffer[ATTENTION_X];
    job.s = (const float *)call->buffer[ATTENTION_S];
    job.s_bias = (const float *)call->buffer[ATTENTION_S_BIAS];
    job.e = (const float *)call->buffer[ATTENTION_E];
    job.e_bias = (const float *)call->buffer[ATTENTION_E_BIAS];
    job.y = (float *)call->buffer[ATTENTION_Y];
    return job;
}

/* Enqueue on `stream`, a cudaStream_t: one block per leaf. */
int channel_attention_enqueue(const struct attention_job *job, void *stream);

#ifdef __cplusplus
}
#endif
