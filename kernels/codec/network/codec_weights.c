/*
 * codec_weights.c - seeded weights for the codec's network.
 *
 * Weights of a convolution are normal with variance 2 / (inputs of a sum), as before a training
 * with ReLU (He et al., "Delving Deep into Rectifiers", ICCV 2015, section 2.2). Codewords are
 * vectors that the encoder makes of procedural leaves, plus normal noise of half their deviation.
 * So most codewords are in use, as in a trained codec, and distances to them are as large as the
 * vectors' own differences.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "codec_net_internal.h"
#include "base/fill.h"
#include "base/rng.h"
#include "kernels/codec/leaves.h"

enum { SAMPLED_LEAVES = 12, DEFAULT_SEED = 6 };

static const double CODEWORD_NOISE = 0.5;

/* Allocates from the storage and fills it with noise. If there is no storage, it only counts. */
struct pool {
    float *storage;
    size_t used;
    uint64_t seed;
};

/* mean + deviation * normal. */
static const float *pool_take(struct pool *pool, size_t count, double mean, double deviation)
{
    float *taken = pool->storage ? pool->storage + pool->used : NULL;
    for (size_t i = 0; taken && i < count; i++)
        taken[i] = (float)(mean + deviation * fill_normal(pool->seed, pool->used + i));
    pool->used += count;
    return taken;
}

static struct codec_conv pool_conv(struct pool *pool, int in, int out, int kernel)
{
    const size_t inputs = (size_t)(in * kernel * kernel * kernel);
    struct codec_conv conv = {.in = in, .out = out, .kernel = kernel};
    conv.weight = pool_take(pool, inputs * (size_t)out, 0, sqrt(2.0 / (double)inputs));
    conv.bias = pool_take(pool, (size_t)out, 0, 0.1);
    return conv;
}

static struct codec_norm pool_norm(struct pool *pool, int channels, int groups)
{
    struct codec_norm norm = {.groups = groups};
    norm.gamma = pool_take(pool, (size_t)channels, 1, 0.2);
    norm.beta = pool_take(pool, (size_t)channels, 0, 0.2);
    return norm;
}

static struct codec_residual pool_residual(struct pool *pool, int channels, int groups)
{
    struct codec_residual block;
    for (int i = 0; i < 2; i++) {
        block.norm[i] = pool_norm(pool, channels, groups);
        block.conv[i] = pool_conv(pool, channels, channels, 3);
    }
    return block;
}

static struct codec_attention pool_attention(struct pool *pool, int channels)
{
    struct codec_attention attention;
    attention.squeeze = pool_conv(pool, channels, channels / NET_SQUEEZE, 1);
    attention.excite = pool_conv(pool, channels / NET_SQUEEZE, channels, 1);
    return attention;
}

static void pool_network(struct pool *pool, struct codec_weights *weights)
{
    weights->stem = pool_conv(pool, 1, NET_STEM, 3);
    weights->stem_norm = pool_norm(pool, NET_STEM, NET_ENCODER_GROUPS);
    weights->stem_residual = pool_residual(pool, NET_STEM, NET_ENCODER_GROUPS);
    weights->down = pool_conv(pool, NET_STEM, NET_DOWN, 4);
    weights->down_residual = pool_residual(pool, NET_DOWN, NET_ENCODER_GROUPS);
    weights->down_attention = pool_attention(pool, NET_DOWN);
    weights->project = pool_conv(pool, NET_DOWN, CODEWORD_LENGTH, 1);
    weights->codebook = pool_take(pool, CODEWORDS * CODEWORD_LENGTH, 0, 1);
    weights->widen = pool_conv(pool, CODEWORD_LENGTH, NET_WIDE, 3);
    weights->wide_norm = pool_norm(pool, NET_WIDE, NET_DECODER_GROUPS);
    weights->wide_residual = pool_residual(pool, NET_WIDE, NET_DECODER_GROUPS);
    weights->wide_attention = pool_attention(pool, NET_WIDE);
    weights->expand = pool_conv(pool, NET_WIDE, NET_EXPANDED, 3);
    weights->last = pool_conv(pool, NET_SHUFFLED, 1, 3);
}

/* The codewords: sampled vectors of the encoder plus scaled noise. z holds those of all leaves. */
static void place_codewords(const double *z, size_t vectors, float *codebook)
{
    for (size_t i = 0; i < CODEWORD_LENGTH; i++) {
        double mean = 0, variance = 0;
        for (size_t v = 0; v < vectors; v++)
            mean += z[v * CODEWORD_LENGTH + i] / (double)vectors;
        for (size_t v = 0; v < vectors; v++)
            variance += pow(z[v * CODEWORD_LENGTH + i] - mean, 2) / (double)vectors;
        const double noise = CODEWORD_NOISE * sqrt(variance);
        for (size_t k = 0; k < CODEWORDS; k++) {
            const size_t from = k * vectors / CODEWORDS;
            float *number = codebook + k * CODEWORD_LENGTH + i;
            *number = (float)(z[from * CODEWORD_LENGTH + i] + noise * (double)*number);
        }
    }
}

static int make_codebook(struct codec_weights *weights, uint64_t seed)
{
    static const size_t per_leaf = LEAF_VECTORS * CODEWORD_LENGTH;
    double *z = malloc(SAMPLED_LEAVES * per_leaf * sizeof *z);
    int status = z ? 0 : assay_error("out of memory");
    for (int i = 0; i < SAMPLED_LEAVES && !status; i++) {
        float leaf[LEAF_VOXELS];
        /* From the middle of a volume, because its corners are empty. */
        const int64_t middle = (LEAF_VOLUME / 2 * LEAF_VOLUME + i) * LEAF_VOLUME + 2 * i;
        leaves_make((enum leaf_kind)(i % LEAF_KINDS), seed, middle, 1, leaf);
        status = codec_vectors_reference(weights, leaf, z + (size_t)i * per_leaf);
    }
    if (!status)
        place_codewords(z, SAMPLED_LEAVES * LEAF_VECTORS,
                        weights->storage + (weights->codebook - weights->storage));
    free(z);
    return status;
}

struct codec_weights *codec_weights_make(uint64_t seed)
{
    struct codec_weights *weights = calloc(1, sizeof *weights);
    struct pool pool = {.seed = rng_mix(seed, 1)};
    if (!weights) goto fail;
    pool_network(&pool, weights);
    weights->count = pool.used;
    weights->storage = malloc(weights->count * sizeof *weights->storage);
    if (!weights->storage) goto fail;
    pool.storage = weights->storage;
    pool.used = 0;
    pool_network(&pool, weights);
    if (make_codebook(weights, seed) == 0) return weights;
fail:
    codec_weights_release(weights);
    assay_error("out of memory");
    return NULL;
}

void codec_weights_release(struct codec_weights *weights)
{
    if (!weights) return;
    free(weights->storage);
    free(weights);
}

/* One set for the process, made once: several threads call the reference at the same time. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct codec_weights *shared;

static void make_shared(void)
{
    shared = codec_weights_make(DEFAULT_SEED);
}

const struct codec_weights *codec_weights_default(void)
{
    if (pthread_once(&once, make_shared) || !shared) {
        assay_error("the codec's weights could not be made");
        return NULL;
    }
    return shared;
}
