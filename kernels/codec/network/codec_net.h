/*
 * codec_net.h - the codec's network: its weights, and encoder and decoder on the host.
 *
 * Encoder, a leaf of 8^3 voxels to 64 codes:
 *   conv 3 (1 to 16), norm (4 groups), ReLU, residual (16)      at 8^3
 *   conv 4 stride 2 (16 to 32), residual (32), attention (32),
 *   conv 1 (32 to 128), nearest codeword of 256                 at 4^3
 * Decoder, 64 codes to a leaf of 8^3 voxels:
 *   codeword, conv 3 (128 to 64), norm (8 groups), ReLU, residual (64),
 *   attention (64), conv 3 (64 to 256), pixel shuffle           at 4^3
 *   conv 3 (32 to 1), sigmoid                                   at 8^3
 *
 * Residual block: x + 0.1 conv3(relu(norm(conv3(relu(norm(x)))))), with as many groups as the first
 * norm of encoder or decoder (He et al., "Identity Mappings in Deep Residual Networks", ECCV 2016).
 *
 * Attention: x sigmoid(E relu(S mean(x) + s) + e), with a quarter of the channels in between (Hu et
 * al., "Squeeze-and-Excitation Networks", CVPR 2018).
 *
 * Convolutions pad with one zero (kernel 1: none) and have a bias.
 *
 * Pixel shuffle: channel 8 c + 4 dz + 2 dy + dx of voxel (z, y, x) becomes channel c of voxel (2 z
 * + dz, 2 y + dy, 2 x + dx).
 *
 * Operations per leaf, a multiply-add counted as two: encoder 26.4 M and 4.2 M for the search,
 * decoder 114.1 M. The weights are seeded noise, scaled as for training: the codec takes the time
 * of a trained one, but the decoded leaves do not resemble the input.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NET_STEM = 16,     /* channels at 8^3 of the encoder */
    NET_DOWN = 32,     /* channels at 4^3 of the encoder */
    NET_WIDE = 64,     /* channels at 4^3 of the decoder */
    NET_SHUFFLED = 32, /* channels at 8^3 of the decoder */
    NET_EXPANDED = 8 * NET_SHUFFLED,
    NET_ENCODER_GROUPS = 4,
    NET_DECODER_GROUPS = 8,
    NET_SQUEEZE = 4, /* channels a hidden number of attention */
};

#define NET_RESIDUAL_SCALE 0.1f

/* Operations per leaf, a multiply-add as two. */
#define NET_ENCODER_OPS 30588928.0
#define NET_DECODER_OPS 114130944.0

/* Numbers of either side's weights, the codebook in both. */
#define NET_ENCODER_WEIGHTS 140232
#define NET_DECODER_WEIGHTS 921329

/* weight is [kernel^3 taps, x fastest][in][out], bias [out]. */
struct codec_conv {
    const float *weight, *bias;
    int in, out, kernel;
};

struct codec_norm {
    const float *gamma, *beta;
    int groups;
};

struct codec_residual {
    struct codec_norm norm[2];
    struct codec_conv conv[2];
};

/* squeeze: channels to channels / NET_SQUEEZE; excite: back. Both kernel 1. */
struct codec_attention {
    struct codec_conv squeeze, excite;
};

struct codec_weights {
    struct codec_conv stem;
    struct codec_norm stem_norm;
    struct codec_residual stem_residual;
    struct codec_conv down;
    struct codec_residual down_residual;
    struct codec_attention down_attention;
    struct codec_conv project;
    const float *codebook; /* [CODEWORDS][CODEWORD_LENGTH] */
    struct codec_conv widen;
    struct codec_norm wide_norm;
    struct codec_residual wide_residual;
    struct codec_attention wide_attention;
    struct codec_conv expand;
    struct codec_conv last;

    float *storage; /* all of the above, `count` floats in a row */
    size_t count;
};

/* The same weights for the same seed; NULL with assay_error if out of memory.
 * codec_weights_release accepts NULL. */
struct codec_weights *codec_weights_make(uint64_t seed);
void codec_weights_release(struct codec_weights *weights);

/* In double, on all cores. `codes` is [count][LEAF_VECTORS], `leaves` [count][LEAF_VOXELS], x
 * fastest. Unless `margin` is NULL, margin[i] is (d_2 - d_1) / d_1 for the two least squared
 * distances of vector i: how far code i is from being another. 0, or -1 with assay_error. */
int codec_encode_reference(const struct codec_weights *weights, const float *leaves, int64_t count,
                           uint8_t *codes, double *margin);
int codec_decode_reference(const struct codec_weights *weights, const uint8_t *codes, int64_t count,
                           double *leaves);

/* The same in fp32. */
int codec_encode_host(const struct codec_weights *weights, const float *leaves, int64_t count,
                      uint8_t *codes);
int codec_decode_host(const struct codec_weights *weights, const uint8_t *codes, int64_t count,
                      float *leaves);

#ifdef __cplusplus
}
#endif
