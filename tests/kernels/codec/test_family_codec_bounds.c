/*
 * test_family_codec_bounds.c - the bounds of `conv3d` pass every order of a sum, in tf32 with
 * operands rounded or cut off, and nothing that has fewer bits or fewer terms.
 */
#include "tests/kernels/arithmetics.h"
#include "kernels/codec/layers/conv3d.h"

/* The operands of each leaf's columns are made anew: small leaves. */
static double operands(const struct bench *bench, int64_t at, double *left, double *right)
{
    struct conv_job job = conv_job(&bench->shape);
    int64_t voxels = conv_voxels(&job), depth = conv_depth(&job);
    int64_t channel = at / voxels % job.out;
    float *columns = malloc((size_t)(depth * voxels) * sizeof *columns);
    conv3d_columns(&job, bench->in[CONV_X], at / voxels / job.out, 1, columns);
    for (int64_t i = 0; i < depth; i++) {
        left[i] = (double)((const float *)bench->in[CONV_W])[i * job.out + channel];
        right[i] = (double)columns[i * voxels + at % voxels];
    }
    free(columns);
    return (double)((const float *)bench->in[CONV_B])[channel];
}

static struct assay_shape conv(int in, int side, int type)
{
    return SHAPE("conv3d", 1, in, 16, side, 3, 1, type);
}

static struct emulated emulated_conv(int in, int type)
{
    return (struct emulated){"conv3d", type == CONV_TF32 ? "tf32" : "fp32", CONV_Y, 27 * in,
                             operands};
}

static const struct arithmetic right_fp32[] = {RIGHT_FP32};
static const struct arithmetic right_tf32[] = {
    {"nearest, blocks of 4", tf32_nearest, sum_blocks_of_4, NULL, NULL},
    {"cut off, blocks of 4", tf32_cut, sum_blocks_of_4, NULL, NULL},
    {"nearest, forwards", tf32_nearest, sum_forwards, NULL, NULL},
    {"fp32, forwards", as_it_is, sum_forwards, NULL, NULL},
};

TEST(every_order_of_a_sum_passes)
{
    for (int in = 1; in <= 64; in *= 8)
        for (size_t i = 0; i < 4; i++) {
            int side = in < 64 ? 2 : 1, seeds = seeds_of(in < 64 ? 40 : 10);
            struct emulated fp32 = emulated_conv(in, CONV_FP32);
            struct emulated tf32 = emulated_conv(in, CONV_TF32);
            assert_passes(conv(in, side, CONV_FP32), &fp32, &right_fp32[i], seeds);
            assert_passes(conv(in, side, CONV_TF32), &tf32, &right_tf32[i], seeds);
        }
}

TEST(fewer_bits_and_fewer_terms_are_wrong)
{
    static const struct arithmetic tf32 = {"tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL};
    static const struct arithmetic bf16 = {"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL};
    static const struct arithmetic dropped = {"last term dropped", as_it_is, sum_without_last, NULL,
                                              NULL};
    for (int in = 8; in <= 64; in *= 8) {
        struct emulated as_fp32 = emulated_conv(in, CONV_FP32);
        struct emulated as_tf32 = emulated_conv(in, CONV_TF32);
        assert_refused(conv(in, 4, CONV_FP32), &as_fp32, &tf32, 3);
        assert_refused(conv(in, 4, CONV_FP32), &as_fp32, &dropped, 3);
        assert_refused(conv(in, 4, CONV_TF32), &as_tf32, &bf16, 3);
        assert_refused(conv(in, 4, CONV_TF32), &as_tf32, &dropped, 3);
    }
}
