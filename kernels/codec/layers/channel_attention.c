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
 * x is about 0 and s large, so that each hidden unit is on in about half of the leaves: one that is
 * off in all of them could be left out.
 *
 * Bound: errors of either sign add up by their squares (Higham and Mary, "A new approach to
 * probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019). A sum of n fp32 terms in
 * any order is off by at most 4 sqrt(n) u, u = 2^-24, of the root of the sum of their squares; each
 * error of a term is carried with its weight, and through the gate with a slope of a quarter at
 * most. The gate and the product are off by 8 u of the result.
 */
#include <math.h>
#include <stdlib.h>

#include "channel_attention.h"

#define UNIT 0x1p-24

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
    const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1.0};
    const struct assay_fill into = {.kind = ASSAY_FILL_NORMAL,
                                    .b = 4 * sqrt(2.0 / (double)channels)};
    const struct assay_fill back = {.kind = ASSAY_FILL_NORMAL, .b = sqrt(2.0 / (double)hidden)};
    const struct assay_fill bias = {.kind = ASSAY_FILL_NORMAL, .b = 0.1};
    out[ATTENTION_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, count, normal};
    out[ATTENTION_S] =
        (struct assay_buffer){"s", ASSAY_IN, ASSAY_F32, channels * hidden, into, .constant = true};
    out[ATTENTION_S_BIAS] =
        (struct assay_buffer){"s_bias", ASSAY_IN, ASSAY_F32, hidden, bias, .constant = true};
    out[ATTENTION_E] =
        (struct assay_buffer){"e", ASSAY_IN, ASSAY_F32, channels * hidden, back, .constant = true};
    out[ATTENTION_E_BIAS] =
        (struct assay_buffer){"e_bias", ASSAY_IN, ASSAY_F32, channels, bias, .constant = true};
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

/* A sum and the square of how far one in fp32 may be off. */
struct judged {
    double value, error2;
};

/* Adds `count` terms: squares of them, and what their own errors carry. */
static struct judged summed(double value, double squares, double carried, int count)
{
    return (struct judged){value, carried + 16 * UNIT * UNIT * count * squares};
}

static struct judged mean_of(const float *x, int voxels)
{
    double sum = 0, squares = 0;
    for (int v = 0; v < voxels; v++) {
        sum += (double)x[v] / voxels;
        squares += (double)x[v] * (double)x[v] / voxels / voxels;
    }
    return summed(sum, squares, 0, voxels);
}

/* The factor of one channel of a leaf, from the means of all channels. */
static struct judged gate_of(const struct attention_job *job, const struct judged *mean,
                             int channel)
{
    double out = (double)job->e_bias[channel], out_squares = out * out, out_carried = 0;
    for (int h = 0; h < job->hidden; h++) {
        double value = (double)job->s_bias[h], squares = value * value, carried = 0;
        for (int c = 0; c < job->channels; c++) {
            const double weight = (double)job->s[c * job->hidden + h];
            value += weight * mean[c].value;
            squares += weight * mean[c].value * weight * mean[c].value;
            carried += weight * weight * mean[c].error2;
        }
        const struct judged middle = summed(value, squares, carried, job->channels + 1);
        const double weight = (double)job->e[h * job->channels + channel];
        const double term = weight * fmax(0, middle.value);
        out += term;
        out_squares += term * term;
        out_carried += weight * weight * middle.error2;
    }
    const struct judged sum = summed(out, out_squares, out_carried, job->hidden + 1);
    return (struct judged){1 / (1 + exp(-out)), sum.error2 / 16};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    struct assay_call call = {.shape = shape};
    for (int i = ATTENTION_X; i < ATTENTION_Y; i++)
        call.buffer[i] = (void *)(uintptr_t)in[i];
    const struct attention_job job = attention_job(&call);
    const int64_t size = (int64_t)job.channels * job.voxels;
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
                bound[at - begin] =
                    fabs((double)job.x[at]) * (sqrt(gate.error2) + 8 * UNIT * gate.value);
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
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "channel_attention",
    .name = "host_omp",
    .summary = "one leaf per core",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
