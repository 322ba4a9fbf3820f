/*
 * group_norm.c - operation `group_norm_relu`: normalise each group of channels of a leaf, scale and
 * shift each channel, and set negative results to zero (Wu and He, "Group Normalization", ECCV
 * 2018).
 *
 *   y = max(0, (x - mean) / sqrt(variance + 1e-5) * gamma[c] + beta[c])
 *
 * mean and variance are those of the group; the variance is biased.
 *
 * Bytes per number: 4 read, 4 written. Operations: about 8.
 *
 * The first QUIET_GROUPS groups (an eighth, of fewer than 64) have a variance near epsilon: beside
 * one of 2 another epsilon moves y by less than rounding.
 *
 * Bound: a mean of n numbers summed in fp32 in any order is off by at most 4 sqrt(n) u of their
 * mean magnitude with overwhelming probability, u = 2^-24 (Higham and Mary, "A new approach to
 * probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019), and so is each number
 * after the mean is subtracted, however small it is then; 1 / sqrt of the variance by half of that.
 * Each later step is off by a few u of its own result: 8 u of both, and of the shift.
 */
#include <math.h>

#include "group_norm.h"

#define UNIT 0x1p-24

enum { LONGEST = 1 << 14, QUIET_GROUPS = 8 };

/* A variance of 7e-6. */
static const float quiet[] = {1e-3f, -1e-3f, 2e-3f, -2e-3f, 4e-3f, -4e-3f};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[NORM_CHANNELS] % shape->value[NORM_GROUPS])
        return "channels do not divide into groups";
    if (shape->value[NORM_CHANNELS] / shape->value[NORM_GROUPS] * shape->value[NORM_VOXELS] >
        LONGEST)
        return "a group has more than 16384 numbers";
    return NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const int64_t channels = shape->value[NORM_CHANNELS];
    const int64_t count = shape->value[NORM_LEAVES] * channels * shape->value[NORM_VOXELS];
    /* A mean that is larger than the deviation shows a variance by squares alone. */
    struct assay_fill off_centre = {.kind = ASSAY_FILL_NORMAL, .a = 5.0, .b = 1.5};
    const struct norm_job job = norm_job(shape);
    const int64_t still = job.groups / 8 < QUIET_GROUPS ? job.groups / 8 : QUIET_GROUPS;
    if (still > 0) {
        off_centre.hard = quiet;
        off_centre.hard_count = sizeof quiet / sizeof *quiet;
        off_centre.hard_every = 1;
        off_centre.hard_until = still * job.length;
    }
    const struct assay_fill weight = {.kind = ASSAY_FILL_UNIFORM, .a = 0.5, .b = 1.5};
    const struct assay_fill shift = {.kind = ASSAY_FILL_UNIFORM, .a = -1.0, .b = 1.0};
    out[NORM_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, count, off_centre};
    out[NORM_GAMMA] =
        (struct assay_buffer){"gamma", ASSAY_IN, ASSAY_F32, channels, weight, .constant = true};
    out[NORM_BETA] =
        (struct assay_buffer){"beta", ASSAY_IN, ASSAY_F32, channels, shift, .constant = true};
    out[NORM_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = count};
    return 4;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const double channels = (double)shape->value[NORM_CHANNELS];
    const double count =
        (double)shape->value[NORM_LEAVES] * channels * (double)shape->value[NORM_VOXELS];
    return (struct assay_work){.read_bytes = 4.0 * (count + 2.0 * channels),
                               .write_bytes = 4.0 * count,
                               .ops = {[ASSAY_FP32] = 8.0 * count}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct norm_job job = norm_job(shape);
    const double summed = (4 * sqrt(job.length) + 8) * UNIT;
    const float *x = in[NORM_X], *gamma = in[NORM_GAMMA], *beta = in[NORM_BETA];
    for (int64_t group = begin / job.length; group * job.length < end; group++) {
        const float *mine = x + group * job.length;
        double mean = 0, variance = 0, magnitude = 0;
        for (int i = 0; i < job.length; i++) {
            mean += (double)mine[i] / job.length;
            magnitude += fabs((double)mine[i]) / job.length;
        }
        for (int i = 0; i < job.length; i++)
            variance += ((double)mine[i] - mean) * ((double)mine[i] - mean) / job.length;
        const double scale = 1.0 / sqrt(variance + NORM_EPSILON);
        for (int i = 0; i < job.length; i++) {
            const int64_t at = group * job.length + i;
            const int64_t channel =
                group % job.groups_per_leaf * job.channels_per_group + i / job.voxels;
            if (at < begin || at >= end) continue;
            const double normal = ((double)mine[i] - mean) * scale;
            const double weight = (double)gamma[channel], shift = (double)beta[channel];
            expected[at - begin] = fmax(0.0, normal * weight + shift);
            bound[at - begin] =
                summed * fabs(weight) * (magnitude * scale + fabs(normal)) + 8 * UNIT * fabs(shift);
        }
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 8;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return norm_job(shape).length;
}

static const char *const baselines[] = {"device_copy", "host_memcpy", NULL};

static const struct assay_operation group_norm_relu = {
    .name = "group_norm_relu",
    .summary = "y = max(0, (x - mean) / sqrt(variance + 1e-5) gamma + beta), by group of channels",
    .dims = {[NORM_LEAVES] = {.name = "leaves",
                              .summary = "leaves of a batch",
                              .fallback = 64,
                              .min = 1,
                              .max = 1 << 20},
             [NORM_CHANNELS] = {.name = "channels",
                                .summary = "channels of a leaf",
                                .fallback = 16,
                                .min = 1,
                                .max = 4096},
             [NORM_VOXELS] = {.name = "voxels",
                              .summary = "voxels of a channel: 512 (8^3) or 64 (4^3)",
                              .fallback = 512,
                              .min = 1,
                              .max = LONGEST},
             [NORM_GROUPS] = {.name = "groups",
                              .summary = "groups of channels",
                              .fallback = 4,
                              .min = 1,
                              .max = 4096}},
    .supports = supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(group_norm_relu);
