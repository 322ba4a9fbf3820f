/*
 * channel_attention.c - operation `channel_attention`: each channel of a leaf is multiplied by a
 * factor that is learnt from the means of all channels (Hu et al., "Squeeze-and-Excitation
 * Networks", CVPR 2018).
 *
 *   y[c] = x[c] sigmoid(e_bias[c] + sum over h of e[h][c] relu(s_bias[h] + s[.][h].mean(x)))
 *
 * Bytes per number: 4 read, 4 written. Operations: 2 per number, and 4 * channels * channels / 4
 * per leaf.
 *
 * Bound: all sums are of fp32 in any order. 2^-18 of what a sum's magnitudes add up to is
 * allowed, carried through the gate, whose slope is a quarter at most.
 */
#include <math.h>
#include <stdlib.h>

#include "channel_attention.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_CHANNELS] % ATTENTION_SQUEEZE ? "channels are no multiple of 4"
                                                                : NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const int64_t channels = shape->value[ATTENTION_CHANNELS];
    const int64_t hidden = channels / ATTENTION_SQUEEZE;
    const int64_t count =
        shape->value[ATTENTION_LEAVES] * channels * shape->value[ATTENTION_VOXELS];
    const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .a = 0.5, .b = 1.0};
    const struct assay_fill into = {.kind = ASSAY_FILL_NORMAL, .b = sqrt(2.0 / (double)channels)};
    const struct assay_fill back = {.kind = ASSAY_FILL_NORMAL, .b = sqrt(2.0 / (double)hidden)};
    const struct assay_fill bias = {.kind = ASSAY_FILL_NORMAL, .b = 0.1};
    out[ATTENTION_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, count, normal};
    out[ATTENTION_S] = (struct assay_buffer){"s", ASSAY_IN, ASSAY_F32, channels * hidden, into};
    out[ATTENTION_S_BIAS] = (struct assay_buffer){"s_bias", ASSAY_IN, ASSAY_F32, hidden, bias};
    out[ATTENTION_E] = (struct assay_buffer){"e", ASSAY_IN, ASSAY_F32, channels * hidden, back};
    out[ATTENTION_E_BIAS] = (struct assay_buffer){"e_bias", ASSAY_IN, ASSAY_F32, channels, bias};
    out[ATTENTION_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = count};
    return 6;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct assay_buffer b[ASSAY_MAX_BUFFERS];
    struct assay_work work = {0};
    buffers(shape, b);
    for (int i = ATTENTION_X; i < ATTENTION_Y; i++)
        work.read_bytes += 4.0 * (double)b[i].count;
    work.write_bytes = 4.0 * (double)b[ATTENTION_Y].count;
    work.ops[ASSAY_FP32] =
        2.0 * (double)b[ATTENTION_Y].count +
        4.0 * (double)b[ATTENTION_S].count * (double)shape->value[ATTENTION_LEAVES];
    return work;
}

/* A value and the magnitude that its error is a share of. */
struct judged {
    double value, size;
};

static struct judged mean_of(const float *x, int voxels)
{
    struct judged mean = {0, 0};
    for (int v = 0; v < voxels; v++) {
        mean.value += (double)x[v] / voxels;
        mean.size += fabs((double)x[v]) / voxels;
    }
    return mean;
}

/* The factor of one channel of a leaf, from the means of all channels. */
static struct judged gate_of(const struct attention_job *job, const struct judged *mean,
                             int channel)
{
    struct judged sum = {(double)job->e_bias[channel], fabs((double)job->e_bias[channel])};
    for (int h = 0; h < job->hidden; h++) {
        struct judged middle = {(double)job->s_bias[h], fabs((double)job->s_bias[h])};
        for (int c = 0; c < job->channels; c++) {
            const double weight = (double)job->s[c * job->hidden + h];
            middle.value += weight * mean[c].value;
            middle.size += fabs(weight) * mean[c].size;
        }
        const double weight = (double)job->e[h * job->channels + channel];
        sum.value += weight * fmax(0, middle.value);
        sum.size += fabs(weight) * middle.size;
    }
    return (struct judged){1 / (1 + exp(-sum.value)), sum.size / 4 + 1};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    struct assay_call call = {.shape = shape};
    for (int i = ATTENTION_X; i < ATTENTION_Y; i++)
        call.buffer[i] = (void *)(uintptr_t)in[i];
    const struct attention_job job = attention_job(&call);
    const int64_t size = (int64_t)job.channels * job.voxels;
    (void)buffer;
    for (int64_t leaf = begin / size; leaf * size < end; leaf++) {
        struct judged mean[ATTENTION_MOST_CHANNELS];
        for (int c = 0; c < job.channels; c++)
            mean[c] = mean_of(job.x + leaf * size + c * job.voxels, job.voxels);
        for (int c = 0; c < job.channels; c++) {
            const struct judged gate = gate_of(&job, mean, c);
            for (int v = 0; v < job.voxels; v++) {
                const int64_t at = leaf * size + c * job.voxels + v;
                if (at < begin || at >= end) continue;
                expected[at - begin] = (double)job.x[at] * gate.value;
                bound[at - begin] = 0x1p-18 * gate.size * fabs((double)job.x[at]);
            }
        }
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    const double channels = (double)shape->value[ATTENTION_CHANNELS];
    return 2 + channels * channels / 4 / (double)shape->value[ATTENTION_VOXELS];
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_CHANNELS] * shape->value[ATTENTION_VOXELS];
}

static const char *const baselines[] = {"split", "host_scalar", NULL};

static const struct assay_operation channel_attention = {
    .name = "channel_attention",
    .summary = "y = x sigmoid(E relu(S mean(x) + s) + e), one factor per channel of a leaf",
    .dims = {[ATTENTION_LEAVES] = {.name = "leaves",
                                   .summary = "leaves of a batch",
                                   .fallback = 64,
                                   .min = 1,
                                   .max = 1 << 20},
             [ATTENTION_CHANNELS] = {.name = "channels",
                                     .summary = "channels of a leaf, a multiple of 4",
                                     .fallback = 64,
                                     .min = 4,
                                     .max = ATTENTION_MOST_CHANNELS},
             [ATTENTION_VOXELS] = {.name = "voxels",
                                   .summary = "voxels of a channel: 512 (8^3) or 64 (4^3)",
                                   .fallback = 64,
                                   .min = 1,
                                   .max = 1 << 14}},
    .supports = supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(channel_attention);

/* ------------------------------------------------------------------ host -- */

static void attend(const struct attention_job *job, int64_t leaf)
{
    const int64_t size = (int64_t)job->channels * job->voxels;
    const float *x = job->x + leaf * size;
    float *y = job->y + leaf * size;
    float mean[ATTENTION_MOST_CHANNELS], middle[ATTENTION_MOST_CHANNELS / ATTENTION_SQUEEZE];
    for (int c = 0; c < job->channels; c++) {
        float sum = 0;
        for (int v = 0; v < job->voxels; v++)
            sum += x[c * job->voxels + v];
        mean[c] = sum / (float)job->voxels;
    }
    for (int h = 0; h < job->hidden; h++) {
        middle[h] = job->s_bias[h];
        for (int c = 0; c < job->channels; c++)
            middle[h] += job->s[c * job->hidden + h] * mean[c];
        if (middle[h] < 0) middle[h] = 0;
    }
    for (int c = 0; c < job->channels; c++) {
        float sum = job->e_bias[c];
        for (int h = 0; h < job->hidden; h++)
            sum += job->e[h * job->channels + c] * middle[h];
        const float factor = 1 / (1 + expf(-sum));
        for (int v = 0; v < job->voxels; v++)
            y[c * job->voxels + v] = x[c * job->voxels + v] * factor;
    }
}

static int launch_scalar(struct assay_call *call)
{
    const struct attention_job job = attention_job(call);
    for (int64_t leaf = 0; leaf < job.leaves; leaf++)
        attend(&job, leaf);
    return 0;
}

static int launch_omp(struct assay_call *call)
{
    const struct attention_job job = attention_job(call);
#pragma omp parallel for schedule(static) if (job.leaves >= 16)
    for (int64_t leaf = 0; leaf < job.leaves; leaf++)
        attend(&job, leaf);
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "channel_attention",
    .name = "host_scalar",
    .summary = "one leaf after another, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_DEVICE,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "channel_attention",
    .name = "host_omp",
    .summary = "one leaf per core",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_DEVICE,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
