/*
 * codec_plain.h - the codec's network written again, as loops over its formulas in double: what
 * tests hold the reference and the packed weights against.
 */
#pragma once

#include <math.h>

#include "kernels/codec/network/codec_net.h"

/* Activations [channel][z][y][x], the largest layer's. */
typedef double volume[NET_EXPANDED * LEAF_VECTORS];

static inline int cube(int side)
{
    return side * side * side;
}

static inline void plain_conv(const struct codec_conv *conv, int side, int stride, const double *x,
                              double *y)
{
    const int result = side / stride, pad = conv->kernel > 1, k = conv->kernel;
    for (int o = 0; o < conv->out; o++)
        for (int v = 0; v < cube(result); v++) {
            double sum = (double)conv->bias[o];
            for (int tap = 0; tap < cube(k); tap++) {
                const int ax = v % result * stride + tap % k - pad;
                const int ay = v / result % result * stride + tap / k % k - pad;
                const int az = v / result / result * stride + tap / k / k - pad;
                if (ax < 0 || ay < 0 || az < 0 || ax >= side || ay >= side || az >= side) continue;
                for (int i = 0; i < conv->in; i++)
                    sum += x[i * cube(side) + (az * side + ay) * side + ax] *
                           (double)conv->weight[(tap * conv->in + i) * conv->out + o];
            }
            y[o * cube(result) + v] = sum;
        }
}

static inline void plain_norm(const struct codec_norm *norm, int channels, int voxels,
                              const double *x, double *y)
{
    const int length = channels / norm->groups * voxels;
    for (int group = 0; group < norm->groups; group++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < length; i++)
            sum += x[group * length + i];
        for (int i = 0; i < length; i++)
            squares += pow(x[group * length + i] - sum / length, 2);
        for (int i = 0; i < length; i++) {
            const int channel = (group * length + i) / voxels;
            const double normal =
                (x[group * length + i] - sum / length) / sqrt(squares / length + 1e-5);
            y[group * length + i] =
                fmax(0, normal * (double)norm->gamma[channel] + (double)norm->beta[channel]);
        }
    }
}

static inline void plain_residual(const struct codec_residual *block, int side, double *x)
{
    static volume a, b;
    const int channels = block->conv[0].in;
    plain_norm(&block->norm[0], channels, cube(side), x, a);
    plain_conv(&block->conv[0], side, 1, a, b);
    plain_norm(&block->norm[1], channels, cube(side), b, b);
    plain_conv(&block->conv[1], side, 1, b, a);
    for (int i = 0; i < channels * cube(side); i++)
        x[i] += (double)0.1f * a[i];
}

static inline void plain_attention(const struct codec_attention *attention, double *x)
{
    const int channels = attention->squeeze.in;
    double mean[NET_WIDE] = {0}, hidden[NET_WIDE], gate[NET_WIDE];
    for (int i = 0; i < channels * LEAF_VECTORS; i++)
        mean[i / LEAF_VECTORS] += x[i] / LEAF_VECTORS;
    plain_conv(&attention->squeeze, 1, 1, mean, hidden);
    for (int h = 0; h < attention->squeeze.out; h++)
        hidden[h] = fmax(0, hidden[h]);
    plain_conv(&attention->excite, 1, 1, hidden, gate);
    for (int i = 0; i < channels * LEAF_VECTORS; i++)
        x[i] /= 1 + exp(-gate[i / LEAF_VECTORS]);
}

/* x [32][4^3]: what the encoder's last convolution reads. */
static inline void plain_encode(const struct codec_weights *w, const float *leaf, double *x)
{
    static volume a, b;
    for (int i = 0; i < LEAF_VOXELS; i++)
        a[i] = (double)leaf[i];
    plain_conv(&w->stem, 8, 1, a, b);
    plain_norm(&w->stem_norm, NET_STEM, LEAF_VOXELS, b, a);
    plain_residual(&w->stem_residual, 8, a);
    plain_conv(&w->down, 8, 2, a, x);
    plain_residual(&w->down_residual, 4, x);
    plain_attention(&w->down_attention, x);
}

static inline void plain_decode(const struct codec_weights *w, const uint8_t *codes, double *leaf)
{
    static volume a, b;
    for (int i = 0; i < CODEWORD_LENGTH; i++)
        for (int v = 0; v < LEAF_VECTORS; v++)
            a[i * LEAF_VECTORS + v] = (double)w->codebook[codes[v] * CODEWORD_LENGTH + i];
    plain_conv(&w->widen, 4, 1, a, b);
    plain_norm(&w->wide_norm, NET_WIDE, LEAF_VECTORS, b, a);
    plain_residual(&w->wide_residual, 4, a);
    plain_attention(&w->wide_attention, a);
    plain_conv(&w->expand, 4, 1, a, b);
    for (int c = 0; c < NET_EXPANDED; c++)
        for (int v = 0; v < LEAF_VECTORS; v++) {
            const int z = v / 16 * 2 + c / 4 % 2, y = v / 4 % 4 * 2 + c / 2 % 2;
            a[c / 8 * LEAF_VOXELS + z * 64 + y * 8 + v % 4 * 2 + c % 2] = b[c * LEAF_VECTORS + v];
        }
    plain_conv(&w->last, 8, 1, a, leaf);
    for (int i = 0; i < LEAF_VOXELS; i++)
        leaf[i] = 1 / (1 + exp(-leaf[i]));
}
