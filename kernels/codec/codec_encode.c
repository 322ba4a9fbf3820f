/*
 * codec_encode.c - operation `codec_encode`: leaves to codes by the encoder of
 * codec_net.h.
 *
 * Bytes of a leaf: 2048 read, 64 written; the weights, 0.6 MB, are read once.
 * Operations: 30.6 M, of which the search is 4.2 M.
 *
 * A code other than the nearest is NEAR where its squared distance is less than t above
 * the least, relative to it: t = 1e-4 in fp32, 2e-3 where operands of convolutions are
 * rounded to tf32. The rounding alone, done on the host, moved 1 code of 9216, at 3e-4.
 */
#include <math.h>
#include <stdlib.h>

#include "codec_batch.h"
#include "codec_net_internal.h"
#include "leaves.h"
#include "vq_search.h"

/* Leaves of the volume from its middle on, where there is something. */
static const int64_t FIRST_LEAF = (int64_t)LEAF_VOLUME / 2 * LEAF_VOLUME * LEAF_VOLUME;

static const char *const types[] = {"fp32", "tf32", NULL};
static const char *const volumes[] = {"smoke", "sdf", "noise", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const int64_t leaves = shape->value[BATCH_LEAVES];
    out[ENCODE_LEAVES] = (struct assay_buffer){.name = "leaves",
                                               .role = ASSAY_IN,
                                               .type = ASSAY_F32,
                                               .count = leaves * LEAF_VOXELS,
                                               .fill = {.kind = ASSAY_FILL_CUSTOM}};
    out[ENCODE_CODES] = (struct assay_buffer){
        .name = "codes", .role = ASSAY_OUT, .type = ASSAY_U8, .count = leaves * LEAF_VECTORS};
    return 2;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer;
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

static void distances(const double *z, const float *codebook, double distance[CODEWORDS])
{
    for (int k = 0; k < CODEWORDS; k++) {
        distance[k] = 0;
        for (int i = 0; i < CODEWORD_LENGTH; i++) {
            const double difference = z[i] - (double)codebook[k * CODEWORD_LENGTH + i];
            distance[k] += difference * difference;
        }
    }
}

/* The codes of one leaf as search_expect has them. */
static int expect_leaf(const float *leaf, double relative, double expected[LEAF_VECTORS])
{
    const struct codec_weights *weights = codec_weights_default();
    double *z = malloc(sizeof *z * LEAF_VECTORS * CODEWORD_LENGTH);
    int status = weights && z ? codec_vectors_reference(weights, leaf, z) : -1;
    for (int v = 0; v < LEAF_VECTORS && !status; v++) {
        double distance[CODEWORDS];
        distances(z + v * CODEWORD_LENGTH, weights->codebook, distance);
        expected[v] = search_expect(distance, relative);
    }
    free(z);
    return status ? assay_error("no reference: out of memory") : 0;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const double relative = shape->value[BATCH_TYPE] == BATCH_TF32 ? 2e-3 : 1e-4;
    const float *leaves = in[ENCODE_LEAVES];
    (void)buffer;
    (void)bound;
    for (int64_t leaf = begin / LEAF_VECTORS; leaf * LEAF_VECTORS < end; leaf++) {
        double mine[LEAF_VECTORS];
        if (expect_leaf(leaves + leaf * LEAF_VOXELS, relative, mine)) return -1;
        for (int64_t v = 0; v < LEAF_VECTORS; v++) {
            const int64_t at = leaf * LEAF_VECTORS + v;
            if (at >= begin && at < end) expected[at - begin] = mine[v];
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

/* mse and peak-to-peak range of what the codes restore to, against the input. */
static int restore(const float *leaves, const uint8_t *codes, int64_t count, double *mse,
                   double *range)
{
    const struct codec_weights *weights = codec_weights_default();
    double *restored = malloc(sizeof *restored * LEAF_VOXELS * (size_t)count);
    double least = INFINITY, most = -INFINITY;
    int status = weights && restored ? codec_decode_reference(weights, codes, count, restored) : -1;
    *mse = 0;
    for (int64_t i = 0; i < count * LEAF_VOXELS && !status; i++) {
        const double value = (double)leaves[i], off = value - restored[i];
        *mse += off * off / (double)(count * LEAF_VOXELS);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    *range = most - least;
    free(restored);
    return status;
}

/* mismatch_rate: codes that are not the exact nearest; mse and psnr_db: of the leaves that
 * the exact decoder makes of the codes, against the input and its range;
 * compression_ratio: bytes of leaves to bytes of codes. */
static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    const float *leaves = host[ENCODE_LEAVES];
    const uint8_t *codes = host[ENCODE_CODES];
    const struct codec_weights *weights = codec_weights_default();
    const int64_t batch = shape->value[BATCH_LEAVES];
    const int64_t count = batch < BATCH_LOOKED_AT ? batch : BATCH_LOOKED_AT;
    uint8_t exact[BATCH_LOOKED_AT * LEAF_VECTORS];
    double mse, range, mismatches = 0;
    if (!weights || codec_encode_reference(weights, leaves, count, exact, NULL)) return 0;
    if (restore(leaves, codes, count, &mse, &range)) return 0;
    for (int64_t i = 0; i < count * LEAF_VECTORS; i++)
        mismatches += codes[i] != exact[i];
    out[0] = (struct assay_metric){"mismatch_rate", mismatches / (double)(count * LEAF_VECTORS)};
    out[1] = (struct assay_metric){"mse", mse};
    out[2] = (struct assay_metric){"psnr_db", 10 * log10(range * range / mse)};
    out[3] = (struct assay_metric){"compression_ratio", 4.0 * LEAF_VOXELS / LEAF_VECTORS};
    return 4;
}

static const char *const baselines[] = {"unfused", "host_omp", NULL};

static const struct assay_operation codec_encode = {
    .name = "codec_encode",
    .summary = "codes of leaves: convolutions, norms and attention, then the nearest codeword",
    .dims = {[BATCH_LEAVES] = {.name = "leaves",
                               .summary = "leaves of 8^3 fp32",
                               .fallback = 64,
                               .min = 1,
                               .max = 1 << 20},
             [BATCH_TYPE] = {.name = "type",
                             .summary = "arithmetic of the convolutions' products",
                             .choices = types,
                             .fallback = BATCH_TF32},
             [BATCH_VOLUME] = {.name = "volume",
                               .summary = "what the leaves are cut from",
                               .choices = volumes,
                               .fallback = LEAF_SMOKE}},
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
ASSAY_REGISTER_OPERATION(codec_encode);
