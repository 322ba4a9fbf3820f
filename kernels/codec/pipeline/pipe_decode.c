/*
 * pipe_decode.c - operation `codec_decode_batch`: batches of codes from host memory to leaves in
 * host memory.
 *
 *   leaf = decoder(e of the leaf's 64 codes), each voxel in (0, 1)
 *
 * Bytes per leaf, over the link: 64 to the device, 2048 from it. Operations per leaf: 114.1 M.
 * The network is that of codec_net.h, with weights of a fixed seed.
 */
#include "pipe_batch.h"
#include "kernels/codec/network/codec_expect.h"
#include "pipe_compare.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[PIPE_IN] = codec_codes_buffer(ASSAY_IN, pipe_leaves(shape));
    out[PIPE_IN].constant = true; /* setup puts the batches in host memory, where they start */
    out[PIPE_OUT] = codec_leaves_buffer(ASSAY_OUT, pipe_leaves(shape));
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double leaves = (double)pipe_leaves(shape);
    return (struct assay_work){.read_bytes = LEAF_BYTES * leaves,
                               .write_bytes = LEAF_CODE_BYTES * leaves,
                               .ops[ASSAY_TF32] = NET_DECODER_OPS * leaves,
                               .over_link = true};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    return codec_expect_voxels(in[PIPE_IN], begin, end, expected);
}

static const char *const baselines[] = {"serial", "host_openmp", NULL};

static const struct assay_operation codec_decode_batch = {
    .name = "codec_decode_batch",
    .summary = "batches of 64 codes to 8^3 leaves, host memory to host memory",
    .dims = {PIPE_DIMS("leaves of 64 codes")},
    .supports = pipe_supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = codec_voxel_cost,
    .reference_run = codec_voxel_run,
    /* Six convolutions in a row have tf32 operands; the sigmoid's slope is at most a quarter. */
    .tolerance = {.abs = COMPARE_VOXEL},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(codec_decode_batch);
