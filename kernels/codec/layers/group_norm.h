/*
 * group_norm.h - the dims and buffers of the operation `group_norm_relu`.
 *
 * x and y are [leaves, channels, voxels], voxels fastest. A group is channels / groups successive
 * channels of one leaf, so its numbers are contiguous.
 */
#pragma once

#include "assay.h"

enum norm_dim { NORM_LEAVES, NORM_CHANNELS, NORM_VOXELS, NORM_GROUPS };
enum norm_buffer { NORM_X, NORM_GAMMA, NORM_BETA, NORM_Y };

#define NORM_EPSILON 1e-5

/* The sizes that follow from a shape. */
struct norm_job {
    int64_t groups; /* in the whole batch */
    int groups_per_leaf;
    int channels_per_group;
    int voxels;
    int length; /* numbers of a group: channels_per_group * voxels */
};

static inline struct norm_job norm_job(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    struct norm_job job;
    job.groups = value[NORM_LEAVES] * value[NORM_GROUPS];
    job.groups_per_leaf = (int)value[NORM_GROUPS];
    job.channels_per_group = (int)(value[NORM_CHANNELS] / value[NORM_GROUPS]);
    job.voxels = (int)value[NORM_VOXELS];
    job.length = job.channels_per_group * job.voxels;
    return job;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue the kernel of `best` on `stream`, a cudaStream_t. Voxels must be a multiple of 4, and a
 * group may have at most 4096 numbers. */
int group_norm_relu_enqueue(const struct norm_job *job, const float *x, const float *gamma,
                            const float *beta, float *y, void *stream);

#ifdef __cplusplus
}
#endif
