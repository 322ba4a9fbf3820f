/*
 * codec_pack.h - the network's weights in the layout that its fused kernels read. Pure, on the
 * host.
 *
 * A convolution is a product of voxels and weights, with k = the channels of one tap. Its weights
 * are in the order of use by mma.m16n8k8, rounded to tf32: word (((tap * in / 16 + p) * out / 8 +
 * t) * 32 + 4 g + q) * 4 + j is channel 16 p + 4 q + j of the input and 8 t + g of the result. So a
 * warp reads 512 contiguous bytes for two steps of eight channels.
 */
#pragma once

#include "codec_net.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PACK_STEM_TAPS = 32 }; /* 27, and zeros */

/* Rounded to nearest, ties away from zero, to 11 bits; as cvt.rna.tf32.f32 does. */
float pack_tf32(float x);

/* taps * in * out words; in is a multiple of 16, out of 8. */
void pack_conv(const struct codec_conv *conv, float *packed);

/* The stem's 27 taps of one channel as the channels of one tap: PACK_STEM_TAPS * 16. */
void pack_stem(const struct codec_conv *stem, float *packed);

/*
 * The decoder's first convolution of every codeword: table[tap][codeword][NET_WIDE]. Its input has
 * only 256 different values, so a sum over 128 channels becomes one look-up.
 */
void pack_widen(const struct codec_weights *weights, float *table);

/*
 * The encoder's last convolution and the search as one product: of x, the NET_DOWN
 * numbers of a voxel, and codewords e_k with mean m,
 *   z = P x + p,  z.e_k - |e_k|^2 / 2 = x.(P^T (e_k - m)) + p.(e_k - m) - |e_k|^2 / 2 + c
 * where c is the same for all k. high + low are P^T (e_k - m), each packed as by
 * pack_conv and of 11 bits; bias is the rest, without c.
 */
void pack_search(const struct codec_weights *weights, float *high, float *low,
                 float bias[CODEWORDS]);

#ifdef __cplusplus
}
#endif
