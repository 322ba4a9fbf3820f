/*
 * test_family_codec_margin.c - the bounds of the codec's layers over many seeds: honest arithmetic
 * stays within half of them, and each mistake that kernels make is beyond them.
 */
#include "tests/kernels/margin.h"
#include "kernels/codec/layers/channel_attention.h"
#include "kernels/codec/layers/group_norm.h"

enum { SEEDS = 40 };

/* tf32 has 11 bits; the nearest. */
static float tf32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000) & ~0x1fffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ------------------------------------------------------------- group norm -- */

struct norm {
    const char *name;
    bool right;
    float epsilon;
    bool outside;  /* of the root */
    bool squares;  /* variance as E[x^2] - mean^2 */
    int left_out;  /* last numbers of a group that the sums miss */
    int one_less;  /* taken off the count in the variance */
    bool negative; /* no ReLU */
    bool by_group; /* gamma and beta by the group's first channel */
};

static void normalise(const struct norm *norm, const struct norm_job *job, struct bench *bench,
                      int64_t group)
{
    const float *x = (const float *)bench->in[NORM_X] + group * job->length;
    float *y = (float *)bench->buffers.data[NORM_Y] + group * job->length;
    float sum = 0, squares = 0, count = (float)job->length;
    for (int i = 0; i < job->length - norm->left_out; i++)
        sum += x[i];
    float mean = sum / count;
    for (int i = 0; i < job->length - norm->left_out; i++)
        squares += norm->squares ? x[i] * x[i] : (x[i] - mean) * (x[i] - mean);
    float variance = squares / (count - (float)norm->one_less);
    if (norm->squares) variance = fmaxf(0, variance - mean * mean);
    float scale =
        norm->outside ? 1 / (sqrtf(variance) + norm->epsilon) : 1 / sqrtf(variance + norm->epsilon);
    for (int i = 0; i < job->length; i++) {
        int64_t channel = group % job->groups_per_leaf * job->channels_per_group +
                          (norm->by_group ? 0 : i / job->voxels);
        y[i] = (x[i] - mean) * scale * ((const float *)bench->in[NORM_GAMMA])[channel] +
               ((const float *)bench->in[NORM_BETA])[channel];
        if (y[i] < 0 && !norm->negative) y[i] = 0;
    }
}

TEST(another_epsilon_is_wrong_in_a_group_norm)
{
    static const struct norm norms[] = {
        {.name = "norm: from first to last", .right = true, .epsilon = 1e-5f},
        {.name = "norm: epsilon 0"},
        {.name = "norm: epsilon 1e-6", .epsilon = 1e-6f},
        {.name = "norm: epsilon 9e-6", .epsilon = 9e-6f},
        {.name = "norm: epsilon 1e-3", .epsilon = 1e-3f},
        {.name = "norm: epsilon outside", .epsilon = 1e-5f, .outside = true},
        {.name = "norm: last left out", .epsilon = 1e-5f, .left_out = 1},
        {.name = "norm: over one less", .epsilon = 1e-5f, .one_less = 1},
        {.name = "norm: no ReLU", .epsilon = 1e-5f, .negative = true},
        {.name = "norm: channels mixed up", .epsilon = 1e-5f, .by_group = true},
    };
    const int64_t shapes[][4] = {{4, 16, 512, 4}, {4, 64, 64, 8}, {2, 16, 512, 16}};
    for (size_t s = 0; s < 3; s++)
        for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
            struct bench bench;
            bench_init(&bench, SHAPE("group_norm_relu", shapes[s][0], shapes[s][1], shapes[s][2],
                                     shapes[s][3]));
            const struct norm_job job = norm_job(&bench.shape);
            for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
                if (norms[i].by_group && job.channels_per_group == 1) continue;
                for (int64_t group = 0; group < job.groups; group++)
                    normalise(&norms[i], &job, &bench, group);
                struct margin margin = margin_of(&bench);
                margin_print(norms[i].name, margin);
                if (norms[i].right)
                    assert_true(margin.wrong == 0 && margin.worst <= 0.5);
                else
                    assert_true(margin.wrong > 0 && margin.worst >= 2);
            }
            bench_release(&bench);
        }
}

/* ------------------------------------------------------ channel attention -- */

struct squeeze {
    const char *name;
    bool right;
    int left_out;     /* last voxels of a channel that its mean misses */
    bool coarse;      /* products in tf32 */
    bool negative;    /* no ReLU */
    bool no_bias;     /* of the second product */
    bool last_hidden; /* left out */
    bool hard;        /* a straight line for the sigmoid */
};

static void attend(const struct squeeze *squeeze, const struct attention_job *job, int64_t leaf)
{
    float mean[ATTENTION_MOST_CHANNELS], middle[ATTENTION_MOST_CHANNELS];
    const float *x = job->x + leaf * job->channels * job->voxels;
    float *y = job->y + leaf * job->channels * job->voxels;
    for (int c = 0; c < job->channels; c++) {
        float sum = 0;
        for (int v = 0; v < job->voxels - squeeze->left_out; v++)
            sum += x[c * job->voxels + v];
        mean[c] = sum / (float)job->voxels;
    }
    for (int h = 0; h < job->hidden; h++) {
        middle[h] = job->s_bias[h];
        for (int c = 0; c < job->channels; c++) {
            float weight = job->s[c * job->hidden + h];
            middle[h] += squeeze->coarse ? tf32(weight) * tf32(mean[c]) : weight * mean[c];
        }
        if (middle[h] < 0 && !squeeze->negative) middle[h] = 0;
    }
    for (int c = 0; c < job->channels; c++) {
        float sum = squeeze->no_bias ? 0 : job->e_bias[c];
        for (int h = 0; h < job->hidden - squeeze->last_hidden; h++)
            sum += job->e[h * job->channels + c] * middle[h];
        float gate = squeeze->hard ? fminf(fmaxf(0.5f + sum / 6, 0), 1) : 1 / (1 + expf(-sum));
        for (int v = 0; v < job->voxels; v++)
            y[c * job->voxels + v] = x[c * job->voxels + v] * gate;
    }
}

TEST(a_mistake_in_the_factor_of_a_channel_is_wrong)
{
    static const struct squeeze ways[] = {
        {.name = "attention: from first to last", .right = true},
        {.name = "attention: last voxel left out", .left_out = 1},
        {.name = "attention: tf32", .coarse = true},
        {.name = "attention: no ReLU", .negative = true},
        {.name = "attention: no bias", .no_bias = true},
        {.name = "attention: last hidden left out", .last_hidden = true},
        {.name = "attention: hard sigmoid", .hard = true},
    };
    for (int64_t voxels = 64; voxels <= 512; voxels *= 8)
        for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
            struct bench bench;
            bench_init(&bench, SHAPE("channel_attention", 16, 64, voxels));
            struct assay_call call = bench_call(&bench);
            const struct attention_job job = attention_job(&call);
            for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                for (int64_t leaf = 0; leaf < job.leaves; leaf++)
                    attend(&ways[i], &job, leaf);
                struct margin margin = margin_of(&bench);
                margin_print(ways[i].name, margin);
                if (ways[i].right)
                    assert_true(margin.wrong == 0 && margin.worst <= 0.5);
                else
                    assert_true(margin.wrong > 0 && margin.worst >= 2);
            }
            bench_release(&bench);
        }
}
