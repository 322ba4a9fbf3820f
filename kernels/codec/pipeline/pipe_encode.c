/*
 * pipe_encode.c - operation `codec_encode_batch`: batches of leaves from host memory to codes in
 * host memory.
 *
 *   code[v] = argmin over 256 of |z_v - e_k|^2, z the encoder's 64 vectors of a leaf
 *
 * Bytes per leaf, over the link: 2048 to the device, 64 from it. Operations per leaf: 30.6 M,
 * those of the encoder and of the search. The network is that of codec_net.h, with weights of a
 * fixed seed.
 *
 * The leaves are those of a procedural volume (leaves.h): 32768 different ones, then the same
 * again. With volume=grid they are those of a file (grid.h).
 */
#include <string.h>

#include "pipe_batch.h"
#include "kernels/codec/network/codec_expect.h"
#include "grid.h"

static const char *const volumes[] = {"smoke", "sdf", "noise", "grid", NULL};
_Static_assert((int)PIPE_VOLUME_GRID == (int)LEAF_KINDS, "the grid is the choice behind them");

static const struct assay_operation codec_encode_batch;

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[PIPE_IN] = codec_leaves_buffer(ASSAY_IN, pipe_leaves(shape));
    out[PIPE_IN].constant = true; /* setup puts the batches in host memory, where they start */
    out[PIPE_OUT] = codec_codes_buffer(ASSAY_OUT, pipe_leaves(shape));
    return 2;
}

/* ------------------------------------------------------------------- input -- */

int pipe_volume_open(struct assay_call *call)
{
    const struct assay_shape *shape = call->shape;
    if (shape->operation != &codec_encode_batch || shape->value[PIPE_VOLUME] != PIPE_VOLUME_GRID)
        return 0;
    grid_note(call->note, sizeof call->note);
    return grid_refused();
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    int64_t leaves = pipe_leaves(shape), kind = shape->value[PIPE_VOLUME];
    int64_t distinct = leaves < PIPE_DISTINCT ? leaves : PIPE_DISTINCT;
    float *out = host;
    if (kind == PIPE_VOLUME_GRID) {
        /* If the fill failed, the harness would report a lack of memory and skip the group. So the
         * variants refuse the grid instead, each with the reason: pipe_volume_open. */
        if (grid_fill(leaves, out)) memset(out, 0, (size_t)leaves * LEAF_BYTES);
        return 0;
    }
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < distinct; i++)
        leaves_make((enum leaf_kind)kind, seed, i * PIPE_STRIDE % PIPE_DISTINCT, 1,
                    out + i * LEAF_VOXELS);
    for (int64_t i = distinct; i < leaves; i++)
        memcpy(out + i * LEAF_VOXELS, out + i % distinct * LEAF_VOXELS, LEAF_BYTES);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double leaves = (double)pipe_leaves(shape);
    return (struct assay_work){.read_bytes = LEAF_CODE_BYTES * leaves,
                               .write_bytes = LEAF_BYTES * leaves,
                               .ops[ASSAY_TF32] = NET_ENCODER_OPS * leaves,
                               .over_link = true};
}

/* ---------------------------------------------------------------- judgement -- */

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    return codec_expect_codes(in[PIPE_IN], begin, end, CODEC_NEAR_TF32, expected);
}

/* Quality is judged by the first leaves, which come from all over the volume. */
enum { LOOKED_AT = 16 };

static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    int64_t leaves = pipe_leaves(shape);
    return codec_code_quality(host[PIPE_IN], host[PIPE_OUT],
                              leaves < LOOKED_AT ? leaves : LOOKED_AT, out);
}

static const char *const baselines[] = {"serial", "host_openmp", NULL};

static const struct assay_operation codec_encode_batch = {
    .name = "codec_encode_batch",
    .summary = "batches of 8^3 leaves to 64 codes each, host memory to host memory",
    .dims = {PIPE_DIMS("leaves of 8^3 fp32"),
             [PIPE_VOLUME] = {.name = "volume",
                              .summary = "what the leaves are of; grid: the file ASSAY_GRID",
                              .choices = volumes,
                              .fallback = LEAF_SMOKE}},
    .supports = pipe_supports,
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
ASSAY_REGISTER_OPERATION(codec_encode_batch);
