/*
 * codec_decode.c - operation `codec_decode`: codes to leaves by the decoder of codec_net.h.
 *
 * Bytes per leaf: 64 read, 2048 written; the weights, 3.4 MB, are read once.
 * Operations per leaf: 114.1 M.
 *
 * Bound: the error of a voxel is at most a quarter of that of its sum, the slope of the sigmoid.
 * Rounding the operands of every convolution to tf32, on the host, moved voxels by up to 4e-4 (an
 * H200: 2.2e-4 in two leaves); 2e-3 is allowed. In fp32 the error is 1e-6, and 1e-5 is allowed.
 */
#include <math.h>
#include <stdlib.h>

#include "codec_batch.h"
#include "codec_expect.h"
#include "codec_net_internal.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[DECODE_CODES] = codec_codes_buffer(ASSAY_IN, shape->value[BATCH_LEAVES]);
    out[DECODE_LEAVES] = codec_leaves_buffer(ASSAY_OUT, shape->value[BATCH_LEAVES]);
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const double leaves = (double)shape->value[BATCH_LEAVES];
    struct assay_work work = {
        .read_bytes = leaves * LEAF_VECTORS + 4.0 * NET_DECODER_WEIGHTS,
        .write_bytes = 4.0 * leaves * LEAF_VOXELS,
    };
    work.ops[batch_arithmetic(shape)] = NET_DECODER_OPS * leaves;
    return work;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const double allowed = shape->value[BATCH_TYPE] == BATCH_TF32 ? 2e-3 : 1e-5;
    for (int64_t i = 0; i < end - begin; i++)
        bound[i] = allowed;
    return codec_expect_voxels(in[DECODE_CODES], begin, end, expected);
}

/* mse and psnr_db (for a range of 1) relative to the exact decoder; max_error: the largest error.
 */
static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    const struct codec_weights *weights = codec_weights_default();
    const float *leaves = host[DECODE_LEAVES];
    const int64_t batch = shape->value[BATCH_LEAVES];
    const int64_t count = batch < BATCH_LOOKED_AT ? batch : BATCH_LOOKED_AT;
    double *exact = malloc(sizeof *exact * LEAF_VOXELS * BATCH_LOOKED_AT), mse = 0, worst = 0;
    const bool made =
        weights && exact && codec_decode_reference(weights, host[DECODE_CODES], count, exact) == 0;
    for (int64_t i = 0; made && i < count * LEAF_VOXELS; i++) {
        const double off = fabs((double)leaves[i] - exact[i]);
        mse += off * off / (double)(count * LEAF_VOXELS);
        worst = fmax(worst, off);
    }
    free(exact);
    if (!made) return 0;
    out[0] = (struct assay_metric){"mse", mse};
    out[1] = (struct assay_metric){"psnr_db", -10 * log10(mse)};
    out[2] = (struct assay_metric){"max_error", worst};
    return 3;
}

static const char *const baselines[] = {"unfused", "host_omp", NULL};

static const struct assay_operation codec_decode = {
    .name = "codec_decode",
    .summary = "leaves of codes: codewords, convolutions, norms, attention, shuffle, sigmoid",
    .dims = {BATCH_DIMS("leaves of 64 codes")},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = codec_voxel_cost,
    .reference_run = codec_voxel_run,
    .quality = quality,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(codec_decode);
