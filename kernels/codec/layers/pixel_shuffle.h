/*
 * pixel_shuffle.h - the dims and buffers of the operation `pixel_shuffle`, and its kernel for the
 * network.
 *
 * x is [leaves][8 channels][side^3], y [leaves][channels][(2 side)^3], x fastest.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shuffle_dim { SHUFFLE_LEAVES, SHUFFLE_CHANNELS, SHUFFLE_SIDE };
enum shuffle_buffer { SHUFFLE_X, SHUFFLE_Y };

struct shuffle_job {
    int64_t numbers; /* of y */
    int channels, side;
};

static inline struct shuffle_job shuffle_job_of(int64_t leaves, int channels, int side)
{
    struct shuffle_job job = {leaves * channels * 8 * side * side * side, channels, side};
    return job;
}

static inline struct shuffle_job shuffle_job(const struct assay_shape *shape)
{
    return shuffle_job_of(shape->value[SHUFFLE_LEAVES], (int)shape->value[SHUFFLE_CHANNELS],
                          (int)shape->value[SHUFFLE_SIDE]);
}

/* Enqueue on `stream`, a cudaStream_t. */
int pixel_shuffle_enqueue(const struct shuffle_job *job, const float *x, float *y, void *stream);

#ifdef __cplusplus
}
#endif
