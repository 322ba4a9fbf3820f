/*
 * group_norm_host.c - group norm and ReLU on the host: one group after another on one core, or
 * groups over all cores. Mean, variance and result take three passes over the group, the second and
 * third from cache.
 *
 * Bytes per number: 4 read, 4 written. Operations: about 8.
 */
#include <math.h>

#include "group_norm.h"

static void normalise(struct assay_call *call, const struct norm_job *job, int64_t group)
{
    const float *x = (const float *)call->buffer[NORM_X] + group * job->length;
    const int64_t first = group % job->groups_per_leaf * job->channels_per_group;
    const float *gamma = (const float *)call->buffer[NORM_GAMMA] + first;
    const float *beta = (const float *)call->buffer[NORM_BETA] + first;
    float *y = (float *)call->buffer[NORM_Y] + group * job->length;
    double sum = 0, squares = 0;
    for (int i = 0; i < job->length; i++)
        sum += (double)x[i];
    const float mean = (float)(sum / job->length);
    for (int i = 0; i < job->length; i++)
        squares += (double)(x[i] - mean) * (double)(x[i] - mean);
    const float scale = (float)(1.0 / sqrt(squares / job->length + NORM_EPSILON));
    for (int c = 0; c < job->channels_per_group; c++)
        for (int v = 0; v < job->voxels; v++) {
            float value = (x[c * job->voxels + v] - mean) * scale * gamma[c] + beta[c];
            y[c * job->voxels + v] = value > 0.0f ? value : 0.0f;
        }
}

static int launch_scalar(struct assay_call *call)
{
    const struct norm_job job = norm_job(call->shape);
    for (int64_t group = 0; group < job.groups; group++)
        normalise(call, &job, group);
    return 0;
}

static int launch_omp(struct assay_call *call)
{
    const struct norm_job job = norm_job(call->shape);
#pragma omp parallel for schedule(static) if (job.groups >= 64)
    for (int64_t group = 0; group < job.groups; group++)
        normalise(call, &job, group);
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "group_norm_relu",
    .name = "host_scalar",
    .summary = "one group after another, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "group_norm_relu",
    .name = "host_omp",
    .summary = "one group per core",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
