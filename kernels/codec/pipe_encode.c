/*
 * pipe_encode.c - operation `codec_encode_batch`: batches of leaves from host memory to
 * codes in host memory.
 *
 *   code[v] = argmin over 256 of |z_v - e_k|^2, z the encoder's 64 vectors of a leaf
 *
 * Bytes of a leaf, over the link: 2048 to the device, 64 from it. Operations of a leaf:
 * 30.6 M, the encoder's and the search's (codec_net.h). The network is that of
 * codec_net.h with weights of a fixed seed.
 *
 * The leaves are a procedural volume's (leaves.h), 32768 different ones and then the
 * same again, or with volume=grid those of a file: ASSAY_GRID is its path and
 * ASSAY_GRID_VOXELS its edges, as in 512x512x256.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipe_batch.h"
#include "codec_net.h"
#include "codec_net_internal.h"
#include "leaves.h"
#include "vq_search.h"

static const char *const volumes[] = {"smoke", "sdf", "noise", "grid", NULL};
enum { VOLUME_GRID = LEAF_KINDS };

/* How far apart two distances must be for the order to be certain where operands of
 * convolutions are tf32: as in codec_encode.c. */
static const double NEAR_TIE = 2e-3;

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[PIPE_LEAVES] > PIPE_MOST_LEAVES / shape->value[PIPE_BATCHES])
        return "more than 2^32 leaves";
    return NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t leaves = pipe_leaves(shape);
    out[PIPE_IN] = (struct assay_buffer){.name = "leaves",
                                         .role = ASSAY_IN,
                                         .type = ASSAY_F32,
                                         .count = leaves * LEAF_VOXELS,
                                         .fill = {.kind = ASSAY_FILL_CUSTOM}};
    out[PIPE_OUT] = (struct assay_buffer){
        .name = "codes", .role = ASSAY_OUT, .type = ASSAY_U8, .count = leaves * LEAF_VECTORS};
    return 2;
}

/* ------------------------------------------------------------------- input -- */

static int fill_from_grid(int64_t leaves, float *out)
{
    const char *path = getenv("ASSAY_GRID"), *edges = getenv("ASSAY_GRID_VOXELS");
    long long edge[3];
    char rest;
    if (!path || !edges)
        return assay_error("volume=grid wants a file in ASSAY_GRID and its edges, as in "
                           "512x512x256, in ASSAY_GRID_VOXELS");
    if (sscanf(edges, "%lldx%lldx%lld%c", &edge[0], &edge[1], &edge[2], &rest) != 3)
        return assay_error("ASSAY_GRID_VOXELS is '%s', not as in 512x512x256", edges);
    float *grid;
    int64_t count;
    if (leaves_read(path, (const int64_t[]){edge[0], edge[1], edge[2]}, &grid, &count)) return -1;
    for (int64_t i = 0; i < leaves; i++)
        memcpy(out + i * LEAF_VOXELS, grid + i % count * LEAF_VOXELS, LEAF_BYTES);
    free(grid);
    return 0;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    int64_t leaves = pipe_leaves(shape), kind = shape->value[PIPE_VOLUME];
    int64_t distinct = leaves < PIPE_DISTINCT ? leaves : PIPE_DISTINCT;
    float *out = host;
    (void)buffer;
    if (kind == VOLUME_GRID) return fill_from_grid(leaves, out);
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

/* --------------------------------------------------------------- reference -- */

/* What is expected of a leaf's codes, a number each as search_expect makes it. */
static int expect_leaf(const struct codec_weights *weights, const float *leaf,
                       double expected[LEAF_VECTORS])
{
    double *z = malloc(sizeof *z * LEAF_VECTORS * CODEWORD_LENGTH);
    if (!z) return assay_error("out of memory");
    int status = codec_vectors_reference(weights, leaf, z);
    for (int v = 0; status == 0 && v < LEAF_VECTORS; v++) {
        float vector[CODEWORD_LENGTH];
        double distance[CODEWORDS];
        for (int i = 0; i < CODEWORD_LENGTH; i++)
            vector[i] = (float)z[v * CODEWORD_LENGTH + i];
        search_distances(vector, weights->codebook, distance);
        expected[v] = search_expect(distance, NEAR_TIE);
    }
    free(z);
    return status;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct codec_weights *weights = codec_weights_default();
    const float *leaves = in[PIPE_IN];
    (void)shape;
    (void)buffer;
    (void)bound;
    if (!weights) return -1;
    for (int64_t leaf = begin / LEAF_VECTORS; leaf * LEAF_VECTORS < end; leaf++) {
        double whole[LEAF_VECTORS];
        if (expect_leaf(weights, leaves + leaf * LEAF_VOXELS, whole)) return -1;
        for (int v = 0; v < LEAF_VECTORS; v++) {
            int64_t at = leaf * LEAF_VECTORS + v;
            if (at >= begin && at < end) expected[at - begin] = whole[v];
        }
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    (void)shape;
    return NET_ENCODER_OPS / 2 / LEAF_VECTORS;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    (void)shape;
    return LEAF_VECTORS;
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    (void)shape;
    (void)buffer;
    return search_match(expected, got);
}

/* ----------------------------------------------------------------- quality -- */

/* Of the first leaves, which come from all over the volume. mismatch_rate: codes that
 * are not the exact nearest; mse, psnr_db: of the leaf that the exact decoder makes of
 * the codes, against the input and its range; compression_ratio: bytes in over bytes out. */
enum { LOOKED_AT = 16 };

static int compare_leaves(const float *leaves, const uint8_t *codes, int64_t count,
                          double *mismatches, double *mse, double *range)
{
    const struct codec_weights *weights = codec_weights_default();
    uint8_t exact[LOOKED_AT * LEAF_VECTORS];
    double *restored = malloc(sizeof *restored * LOOKED_AT * LEAF_VOXELS);
    int status = weights && restored ? 0 : -1;
    if (status == 0) status = codec_encode_reference(weights, leaves, count, exact, NULL);
    if (status == 0) status = codec_decode_reference(weights, codes, count, restored);
    *mismatches = *mse = 0;
    for (int64_t i = 0; status == 0 && i < count * LEAF_VECTORS; i++)
        *mismatches += codes[i] != exact[i];
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; status == 0 && i < count * LEAF_VOXELS; i++) {
        double value = (double)leaves[i], off = restored[i] - value;
        *mse += off * off;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    *range = most - least;
    *mismatches /= (double)(count * LEAF_VECTORS);
    *mse /= (double)(count * LEAF_VOXELS);
    free(restored);
    return status;
}

static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    int64_t leaves = pipe_leaves(shape);
    double mismatches, mse, range;
    if (leaves == 0) return 0;
    if (compare_leaves(host[PIPE_IN], host[PIPE_OUT], leaves < LOOKED_AT ? leaves : LOOKED_AT,
                       &mismatches, &mse, &range))
        return 0;
    out[0] = (struct assay_metric){"mismatch_rate", mismatches};
    out[1] = (struct assay_metric){"mse", mse};
    out[2] = (struct assay_metric){"psnr_db", range > 0 ? 10 * log10(range * range / mse) : NAN};
    out[3] = (struct assay_metric){"compression_ratio", (double)LEAF_BYTES / LEAF_CODE_BYTES};
    return 4;
}

static const char *const baselines[] = {"serial", "host_openmp", NULL};

static const struct assay_operation codec_encode_batch = {
    .name = "codec_encode_batch",
    .summary = "batches of 8^3 leaves to 64 codes each, host memory to host memory",
    .dims = {[PIPE_LEAVES] = {.name = "leaves",
                              .summary = "leaves of 8^3 fp32 in a batch; 0: empty batches",
                              .fallback = 64,
                              .min = 0,
                              .max = 1 << 24},
             [PIPE_BATCHES] = {.name = "batches",
                               .summary = "batches in a launch",
                               .fallback = 127,
                               .min = 1,
                               .max = 1 << 20},
             [PIPE_VOLUME] = {.name = "volume",
                              .summary = "what the leaves are of; grid: the file ASSAY_GRID",
                              .choices = volumes,
                              .fallback = LEAF_SMOKE}},
    .supports = supports,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .tolerance = {.near_share = 1e-2},
    .match = match,
    .quality = quality,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(codec_encode_batch);
