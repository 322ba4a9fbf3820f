#include <math.h>
#include <stdlib.h>

#include "codec_expect.h"
#include "codec_net_internal.h"
#include "kernels/codec/search/vq_search.h"

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

/* The codes of one leaf. */
static int expect_leaf(const struct codec_weights *weights, const float *leaf, double relative,
                       double expected[LEAF_VECTORS])
{
    double *z = malloc(sizeof *z * LEAF_VECTORS * CODEWORD_LENGTH);
    int status = z ? codec_vectors_reference(weights, leaf, z) : -1;
    for (int v = 0; v < LEAF_VECTORS && !status; v++) {
        double distance[CODEWORDS];
        distances(z + v * CODEWORD_LENGTH, weights->codebook, distance);
        expected[v] = search_expect(distance, relative);
    }
    free(z);
    return status ? assay_error("no reference: out of memory") : 0;
}

struct assay_buffer codec_leaves_buffer(enum assay_role role, int64_t leaves)
{
    struct assay_buffer buffer = {
        .name = "leaves", .role = role, .type = ASSAY_F32, .count = leaves * LEAF_VOXELS};
    if (role == ASSAY_IN) buffer.fill.kind = ASSAY_FILL_CUSTOM;
    return buffer;
}

struct assay_buffer codec_codes_buffer(enum assay_role role, int64_t leaves)
{
    struct assay_buffer buffer = {
        .name = "codes", .role = role, .type = ASSAY_U8, .count = leaves * LEAF_VECTORS};
    if (role == ASSAY_IN)
        buffer.fill = (struct assay_fill){.kind = ASSAY_FILL_INTEGER, .b = CODEWORDS - 1};
    return buffer;
}

int codec_expect_codes(const float *leaves, int64_t begin, int64_t end, double relative,
                       double *expected)
{
    const struct codec_weights *weights = codec_weights_default();
    if (!weights) return -1;
    for (int64_t leaf = begin / LEAF_VECTORS; leaf * LEAF_VECTORS < end; leaf++) {
        double mine[LEAF_VECTORS];
        if (expect_leaf(weights, leaves + leaf * LEAF_VOXELS, relative, mine)) return -1;
        for (int64_t v = 0; v < LEAF_VECTORS; v++) {
            const int64_t at = leaf * LEAF_VECTORS + v;
            if (at >= begin && at < end) expected[at - begin] = mine[v];
        }
    }
    return 0;
}

int codec_expect_voxels(const uint8_t *codes, int64_t begin, int64_t end, double *expected)
{
    const struct codec_weights *weights = codec_weights_default();
    if (!weights) return -1;
    for (int64_t leaf = begin / LEAF_VOXELS; leaf * LEAF_VOXELS < end; leaf++) {
        double mine[LEAF_VOXELS];
        if (codec_decode_reference(weights, codes + leaf * LEAF_VECTORS, 1, mine)) return -1;
        for (int64_t v = 0; v < LEAF_VOXELS; v++) {
            const int64_t at = leaf * LEAF_VOXELS + v;
            if (at >= begin && at < end) expected[at - begin] = mine[v];
        }
    }
    return 0;
}

double codec_code_cost(const struct assay_shape *shape)
{
    return NET_ENCODER_OPS / 2 / LEAF_VECTORS;
}

int64_t codec_code_run(const struct assay_shape *shape)
{
    return LEAF_VECTORS;
}

double codec_voxel_cost(const struct assay_shape *shape)
{
    return NET_DECODER_OPS / 2 / LEAF_VOXELS;
}

int64_t codec_voxel_run(const struct assay_shape *shape)
{
    return LEAF_VOXELS;
}

enum assay_match codec_code_match(const struct assay_shape *shape, int buffer, double expected,
                                  double got)
{
    return search_match(expected, got);
}

/* ----------------------------------------------------------------- quality -- */

/* The mse of the leaves that are decoded from the codes, in fp32, and the range of the input. */
static int restore(const struct codec_weights *weights, const float *leaves, const uint8_t *codes,
                   int64_t count, double *mse, double *range)
{
    float *restored = malloc(sizeof *restored * LEAF_VOXELS * (size_t)count);
    double least = INFINITY, most = -INFINITY;
    int status = restored ? codec_decode_host(weights, codes, count, restored) : -1;
    *mse = 0;
    for (int64_t i = 0; i < count * LEAF_VOXELS && !status; i++) {
        const double value = (double)leaves[i], off = value - (double)restored[i];
        *mse += off * off / (double)(count * LEAF_VOXELS);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    *range = most - least;
    free(restored);
    return status;
}

static int count_mismatches(const struct codec_weights *weights, const float *leaves,
                            const uint8_t *codes, int64_t count, int64_t *mismatches)
{
    uint8_t *exact = malloc(LEAF_VECTORS * (size_t)count);
    int status = exact ? codec_encode_reference(weights, leaves, count, exact, NULL) : -1;
    *mismatches = 0;
    for (int64_t i = 0; i < count * LEAF_VECTORS && !status; i++)
        *mismatches += codes[i] != exact[i];
    free(exact);
    return status;
}

int codec_code_quality(const float *leaves, const uint8_t *codes, int64_t count,
                       struct assay_metric out[ASSAY_MAX_METRICS])
{
    const struct codec_weights *weights = codec_weights_default();
    int64_t mismatches;
    double mse, range;
    if (count <= 0 || !weights) return 0;
    if (count_mismatches(weights, leaves, codes, count, &mismatches)) return 0;
    if (restore(weights, leaves, codes, count, &mse, &range)) return 0;
    out[0] =
        (struct assay_metric){"mismatch_rate", (double)mismatches / (double)(count * LEAF_VECTORS)};
    out[1] = (struct assay_metric){"mse", mse};
    /* Leaves with a single value have no range for psnr_db. */
    out[2] = (struct assay_metric){"psnr_db", range > 0 ? 10 * log10(range * range / mse) : NAN};
    out[3] = (struct assay_metric){"compression_ratio", 4.0 * LEAF_VOXELS / LEAF_VECTORS};
    return 4;
}
