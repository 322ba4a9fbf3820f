/*
 * codec_encode.c - operation `codec_encode`: leaves to codes by the encoder of codec_net.h.
 *
 * Bytes per leaf: 2048 read, 64 written; the weights, 0.6 MB, are read once.
 * Operations per leaf: 30.6 M, 4.2 M of them for the search.
 *
 * A code other than the nearest counts as NEAR where its squared distance exceeds the least by
 * less than t, relative to the least: t = 1e-4 in fp32, CODEC_NEAR_TF32 where operands of
 * convolutions are rounded to tf32.
 */
#include "codec_batch.h"
#include "codec_expect.h"
#include "kernels/codec/leaves.h"

/* Leaves from the middle of the volume on, because its corners are empty. */
static const int64_t FIRST_LEAF = (int64_t)LEAF_VOLUME / 2 * LEAF_VOLUME * LEAF_VOLUME;

static const char *const volumes[] = {"smoke", "sdf", "noise", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[ENCODE_LEAVES] = codec_leaves_buffer(ASSAY_IN, shape->value[BATCH_LEAVES]);
    out[ENCODE_CODES] = codec_codes_buffer(ASSAY_OUT, shape->value[BATCH_LEAVES]);
    return 2;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    leaves_make((enum leaf_kind)shape->value[BATCH_VOLUME], seed, FIRST_LEAF,
                shape->value[BATCH_LEAVES], host);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const double leaves = (double)shape->value[BATCH_LEAVES];
    struct assay_work work = {
        .read_bytes = 4.0 * (leaves * LEAF_VOXELS + NET_ENCODER_WEIGHTS),
        .write_bytes = leaves * LEAF_VECTORS,
    };
    work.ops[batch_arithmetic(shape)] = NET_ENCODER_OPS * leaves;
    return work;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    return codec_expect_codes(in[ENCODE_LEAVES], begin, end,
                              shape->value[BATCH_TYPE] == BATCH_TF32 ? CODEC_NEAR_TF32 : 1e-4,
                              expected);
}

static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    const int64_t leaves = shape->value[BATCH_LEAVES];
    return codec_code_quality(host[ENCODE_LEAVES], host[ENCODE_CODES],
                              leaves < BATCH_LOOKED_AT ? leaves : BATCH_LOOKED_AT, out);
}

static const char *const baselines[] = {"unfused", "host_omp", NULL};

static const struct assay_operation codec_encode = {
    .name = "codec_encode",
    .summary = "codes of leaves: convolutions, norms and attention, then the nearest codeword",
    .dims = {BATCH_DIMS("leaves of 8^3 fp32"), [BATCH_VOLUME] = {.name = "volume",
                                                                 .summary =
                                                                     "what the leaves are cut from",
                                                                 .choices = volumes,
                                                                 .fallback = LEAF_SMOKE}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = codec_code_cost,
    .reference_run = codec_code_run,
    .tolerance = {.near_share = 1e-2},
    .match = codec_code_match,
    .quality = quality,
    .baselines = baselines,
    .data_dims = "volume",
};
ASSAY_REGISTER_OPERATION(codec_encode);
