/*
 * codec_net_layers.h - the layers of codec_net.h on the host, for the type that the including file
 * calls `real`: double for the reference, float for the fp32 codec.
 *
 * Activations are [voxel, x fastest][channel]. Sums over a leaf are in double in both. Everything
 * is static: include it once, in a file of its own.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec_net.h"
#include "kernels/codec/layers/group_norm.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define LAYERS_WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define LAYERS_WIDEST
#endif

enum {
    LAYERS_PADDED = (LEAF_EDGE + 2) * (LEAF_EDGE + 2) * (LEAF_EDGE + 2) * NET_SHUFFLED,
    LAYERS_MOST = LEAF_VOXELS * NET_SHUFFLED, /* numbers of the largest layer */
    LAYERS_CHANNELS = 16, /* channels of the result that are summed at a time, */
    LAYERS_VOXELS = 4,    /* for so many voxels in a row */
};

/* Memory for the activations of one leaf. */
struct layers {
    real padded[LAYERS_PADDED], from[LAYERS_MOST], to[LAYERS_MOST], kept[LAYERS_MOST];
};

/* Copy x [edge^3][channels] and surround it with one voxel of zeros. */
static void layers_pad(const real *x, int edge, int channels, real *padded)
{
    const int wide = edge + 2;
    memset(padded, 0, sizeof *padded * (size_t)(wide * wide * wide * channels));
    for (int z = 0; z < edge; z++)
        for (int y = 0; y < edge; y++)
            memcpy(padded + (((z + 1) * wide + y + 1) * wide + 1) * channels,
                   x + (z * edge + y) * edge * channels, sizeof *x * (size_t)(edge * channels));
}

/* Sum LAYERS_CHANNELS channels of LAYERS_VOXELS voxels; `at` is the first tap of the first one. */
LAYERS_WIDEST static void layers_conv_block(const struct codec_conv *conv, const real *at, int wide,
                                            int stride, int channel, real *y)
{
    real sum[LAYERS_VOXELS][LAYERS_CHANNELS] = {{0}};
    for (int tap = 0; tap < conv->kernel * conv->kernel * conv->kernel; tap++) {
        const int dx = tap % conv->kernel, dy = tap / conv->kernel % conv->kernel;
        const int dz = tap / conv->kernel / conv->kernel;
        const real *x = at + ((dz * wide + dy) * wide + dx) * conv->in;
        const float *weight = conv->weight + (size_t)tap * (size_t)(conv->in * conv->out) + channel;
        for (int i = 0; i < conv->in; i++, weight += conv->out)
            for (int v = 0; v < LAYERS_VOXELS; v++) {
                const real value = x[v * stride * conv->in + i];
                real *of_voxel = sum[v];
                for (int c = 0; c < LAYERS_CHANNELS; c++)
                    of_voxel[c] += value * (real)weight[c];
            }
    }
    for (int v = 0; v < LAYERS_VOXELS; v++)
        for (int c = 0; c < LAYERS_CHANNELS; c++)
            y[v * conv->out + c] = sum[v][c] + (real)conv->bias[channel + c];
}

/* One channel of one voxel, for a convolution with few channels of result. */
static real layers_conv_one(const struct codec_conv *conv, const real *at, int wide, int channel)
{
    real sum = 0;
    for (int tap = 0; tap < conv->kernel * conv->kernel * conv->kernel; tap++) {
        const int dx = tap % conv->kernel, dy = tap / conv->kernel % conv->kernel;
        const int dz = tap / conv->kernel / conv->kernel;
        const real *x = at + ((dz * wide + dy) * wide + dx) * conv->in;
        const float *weight = conv->weight + (size_t)tap * (size_t)(conv->in * conv->out) + channel;
        for (int i = 0; i < conv->in; i++)
            sum += x[i] * (real)weight[i * conv->out];
    }
    return sum + (real)conv->bias[channel];
}

/* Convolve x at `edge` to y at edge / stride. The first tap of kernel 1 is the voxel itself, of
 * larger kernels the voxel before it. */
static void layers_conv(const struct codec_conv *conv, int edge, int stride, const real *x, real *y,
                        real *padded)
{
    const int wide = edge + 2, result = edge / stride, first = conv->kernel == 1;
    layers_pad(x, edge, conv->in, padded);
    for (int voxel = 0; voxel < result * result * result; voxel += LAYERS_VOXELS) {
        const int at_x = voxel % result, at_y = voxel / result % result;
        const int at_z = voxel / result / result;
        const real *at = padded + (((at_z * stride + first) * wide + at_y * stride + first) * wide +
                                   at_x * stride + first) *
                                      conv->in;
        int channel = 0;
        for (; channel + LAYERS_CHANNELS <= conv->out; channel += LAYERS_CHANNELS)
            layers_conv_block(conv, at, wide, stride, channel, y + voxel * conv->out + channel);
        for (; channel < conv->out; channel++)
            for (int v = 0; v < LAYERS_VOXELS; v++)
                y[(voxel + v) * conv->out + channel] =
                    layers_conv_one(conv, at + v * stride * conv->in, wide, channel);
    }
}

/* y = relu(norm(x)); y may be x. */
static void layers_norm_relu(const struct codec_norm *norm, int voxels, int channels, const real *x,
                             real *y)
{
    const int width = channels / norm->groups;
    for (int first = 0; first < channels; first += width) {
        double mean = 0, variance = 0;
        for (int v = 0; v < voxels; v++)
            for (int c = first; c < first + width; c++)
                mean += (double)x[v * channels + c];
        mean /= voxels * width;
        for (int v = 0; v < voxels; v++)
            for (int c = first; c < first + width; c++) {
                double centred = (double)x[v * channels + c] - mean;
                variance += centred * centred;
            }
        const real scale = (real)(1 / sqrt(variance / (voxels * width) + NORM_EPSILON));
        for (int v = 0; v < voxels; v++)
            for (int c = first; c < first + width; c++) {
                real value = (x[v * channels + c] - (real)mean) * scale * (real)norm->gamma[c] +
                             (real)norm->beta[c];
                y[v * channels + c] = value > 0 ? value : 0;
            }
    }
}

/* In place on x, which is neither work->from nor work->to. */
static void layers_residual(const struct codec_residual *block, int edge, real *x,
                            struct layers *work)
{
    const int voxels = edge * edge * edge, channels = block->conv[0].in;
    layers_norm_relu(&block->norm[0], voxels, channels, x, work->from);
    layers_conv(&block->conv[0], edge, 1, work->from, work->to, work->padded);
    layers_norm_relu(&block->norm[1], voxels, channels, work->to, work->to);
    layers_conv(&block->conv[1], edge, 1, work->to, work->from, work->padded);
    for (int i = 0; i < voxels * channels; i++)
        x[i] += (real)NET_RESIDUAL_SCALE * work->from[i];
}

static real layers_sigmoid(real x)
{
    return (real)(1 / (1 + exp(-(double)x)));
}

/* In place: each channel by its own factor. */
static void layers_attention(const struct codec_attention *attention, int voxels, real *x)
{
    const int channels = attention->squeeze.in, hidden = attention->squeeze.out;
    double mean[NET_WIDE] = {0}, middle[NET_WIDE];
    for (int v = 0; v < voxels; v++)
        for (int c = 0; c < channels; c++)
            mean[c] += (double)x[v * channels + c] / voxels;
    for (int h = 0; h < hidden; h++) {
        double sum = (double)attention->squeeze.bias[h];
        for (int c = 0; c < channels; c++)
            sum += mean[c] * (double)attention->squeeze.weight[c * hidden + h];
        middle[h] = sum > 0 ? sum : 0;
    }
    for (int c = 0; c < channels; c++) {
        double sum = (double)attention->excite.bias[c];
        for (int h = 0; h < hidden; h++)
            sum += middle[h] * (double)attention->excite.weight[h * channels + c];
        const real factor = layers_sigmoid((real)sum);
        for (int v = 0; v < voxels; v++)
            x[v * channels + c] *= factor;
    }
}

/* [4^3][8 channels] to [8^3][channels]. */
static void layers_shuffle(const real *x, int channels, real *y)
{
    const int edge = LEAF_EDGE / 2;
    for (int voxel = 0; voxel < LEAF_VOXELS; voxel++) {
        const int at_x = voxel % LEAF_EDGE, at_y = voxel / LEAF_EDGE % LEAF_EDGE;
        const int at_z = voxel / LEAF_EDGE / LEAF_EDGE;
        const int from = ((at_z / 2) * edge + at_y / 2) * edge + at_x / 2;
        const int part = 4 * (at_z % 2) + 2 * (at_y % 2) + at_x % 2;
        for (int c = 0; c < channels; c++)
            y[voxel * channels + c] = x[from * 8 * channels + 8 * c + part];
    }
}

/* The vectors that the search takes: 64, in work->to. */
static const real *layers_encode(const struct codec_weights *weights, const float *leaf,
                                 struct layers *work)
{
    const int edge = LEAF_EDGE, half = LEAF_EDGE / 2;
    for (int i = 0; i < LEAF_VOXELS; i++)
        work->from[i] = (real)leaf[i];
    layers_conv(&weights->stem, edge, 1, work->from, work->to, work->padded);
    layers_norm_relu(&weights->stem_norm, LEAF_VOXELS, NET_STEM, work->to, work->kept);
    layers_residual(&weights->stem_residual, edge, work->kept, work);
    layers_conv(&weights->down, edge, 2, work->kept, work->from, work->padded);
    memcpy(work->kept, work->from, sizeof *work->kept * LEAF_VECTORS * NET_DOWN);
    layers_residual(&weights->down_residual, half, work->kept, work);
    layers_attention(&weights->down_attention, LEAF_VECTORS, work->kept);
    layers_conv(&weights->project, half, 1, work->kept, work->to, work->padded);
    return work->to;
}

static void layers_decode(const struct codec_weights *weights, const uint8_t *codes, real *leaf,
                          struct layers *work)
{
    const int edge = LEAF_EDGE, half = LEAF_EDGE / 2;
    for (int v = 0; v < LEAF_VECTORS; v++)
        for (int c = 0; c < CODEWORD_LENGTH; c++)
            work->from[v * CODEWORD_LENGTH + c] =
                (real)weights->codebook[codes[v] * CODEWORD_LENGTH + c];
    layers_conv(&weights->widen, half, 1, work->from, work->to, work->padded);
    layers_norm_relu(&weights->wide_norm, LEAF_VECTORS, NET_WIDE, work->to, work->kept);
    layers_residual(&weights->wide_residual, half, work->kept, work);
    layers_attention(&weights->wide_attention, LEAF_VECTORS, work->kept);
    layers_conv(&weights->expand, half, 1, work->kept, work->to, work->padded);
    layers_shuffle(work->to, NET_SHUFFLED, work->from);
    layers_conv(&weights->last, edge, 1, work->from, work->to, work->padded);
    for (int i = 0; i < LEAF_VOXELS; i++)
        leaf[i] = layers_sigmoid(work->to[i]);
}

/* The codeword nearest to z; *margin, unless NULL, as of codec_encode_reference. */
LAYERS_WIDEST static uint8_t layers_nearest(const real *z, const float *codebook, double *margin)
{
    real least = INFINITY, second = INFINITY;
    int best = 0;
    for (int k = 0; k < CODEWORDS; k++) {
        const float *codeword = codebook + k * CODEWORD_LENGTH;
        real distance = 0;
#pragma omp simd reduction(+ : distance)
        for (int i = 0; i < CODEWORD_LENGTH; i++) {
            real difference = z[i] - (real)codeword[i];
            distance += difference * difference;
        }
        if (distance < least) {
            second = least;
            least = distance;
            best = k;
        } else if (distance < second) {
            second = distance;
        }
    }
    if (margin) *margin = (double)((second - least) / least);
    return (uint8_t)best;
}

/* Encodes all leaves, one leaf per core. */
static int layers_encode_all(const struct codec_weights *weights, const float *leaves,
                             int64_t count, uint8_t *codes, double *margin)
{
    bool short_of_memory = false;
#pragma omp parallel if (count > 1) reduction(|| : short_of_memory)
    {
        struct layers *work = malloc(sizeof *work);
        short_of_memory = !work;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            if (!work) continue;
            const real *z = layers_encode(weights, leaves + i * LEAF_VOXELS, work);
            for (int64_t v = 0; v < LEAF_VECTORS; v++)
                codes[i * LEAF_VECTORS + v] =
                    layers_nearest(z + v * CODEWORD_LENGTH, weights->codebook,
                                   margin ? margin + i * LEAF_VECTORS + v : NULL);
        }
        free(work);
    }
    return short_of_memory ? assay_error("out of memory") : 0;
}

static int layers_decode_all(const struct codec_weights *weights, const uint8_t *codes,
                             int64_t count, real *leaves)
{
    bool short_of_memory = false;
#pragma omp parallel if (count > 1) reduction(|| : short_of_memory)
    {
        struct layers *work = malloc(sizeof *work);
        short_of_memory = !work;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++)
            if (work)
                layers_decode(weights, codes + i * LEAF_VECTORS, leaves + i * LEAF_VOXELS, work);
        free(work);
    }
    return short_of_memory ? assay_error("out of memory") : 0;
}
