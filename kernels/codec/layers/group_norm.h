/*
 * group_norm.h - the dims and buffers of the operation `group_norm_relu`.
 *
 * x and y are [leaves, channels, voxels], voxels fastest; a group is channels / groups
 * neighbouring channels of one leaf, so its numbers lie together.
 */
#pragma once

#include "assay.h"

enum norm_dim { NORM_LEAVES, NORM_CHANNELS, NORM_VOXELS, NORM_GROUPS };
enum norm_buffer { NORM_X, NORM_GAMMA, NORM_BETA, NORM_Y };

#define NORM_EPSILON 1e-5

/* A shape worked out. */
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

/* Enqueue on `stream`, a cudaStream_t, the kernel `best`; voxels are a multiple of 4 and a
 * group has at most 4096 numbers. */
int group_norm_relu_enqueue(const struct norm_job *job, const float *x, const float *gamma,
                            const float *beta, float *y, void *stream);

#ifdef __cplusplus
}
#endif
