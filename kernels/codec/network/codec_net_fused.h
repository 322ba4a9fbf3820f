/*
 * codec_net_fused.h - the network's weights on a device as the fused kernels read them,
 * and the kernels' launches. See codec_pack.h for the layouts.
 */
#pragma once

#include <cuda_runtime_api.h>

#include "codec_net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pointers into device memory, each aligned to 256 bytes. */
struct fused_norm {
    const float *gamma, *beta;
};

struct fused_conv {
    const float *weight, *bias;
};

struct fused_residual {
    struct fused_norm norm[2];
    struct fused_conv conv[2];
};

struct fused_attention {
    struct fused_conv squeeze, excite; /* [in][out], not packed */
};

struct fused_encoder {
    struct fused_conv stem;
    struct fused_norm stem_norm;
    struct fused_residual stem_residual;
    struct fused_conv down;
    struct fused_residual down_residual;
    struct fused_attention attention;
    const float *search_high, *search_low, *search_bias;
};

struct fused_decoder {
    const float *table, *widen_bias;
    struct fused_norm norm;
    struct fused_residual residual;
    struct fused_attention attention;
    struct fused_conv expand;
    struct fused_conv last; /* [tap][in], not packed */
};

/* Bytes of workspace per leaf: the result of the encoder's first kernel. */
enum { FUSED_LEAF_BYTES = 4 * NET_DOWN * LEAF_VECTORS };

/* Once for the current device, before the first launch: allow the shared memory. */
int fused_prepare_encode_large(void);
int fused_prepare_encode_small(void);
int fused_prepare_decode(void);

/* Enqueue; `leaves` is at least 1. The encoder has two kernels: the layers at 8^3 and the
 * convolution down, which write FUSED_LEAF_BYTES per leaf, and the layers at 4^3. Where leaves
 * are few, several blocks decode each group of four, as many as `blocks_at_once` allows
 * (multiprocessors that are free; 1: none to spare). */
int fused_encode_large(const struct fused_encoder *weights, const float *leaves_in, float *to,
                       int64_t leaves, cudaStream_t stream);
int fused_encode_small(const struct fused_encoder *weights, const float *from, uint8_t *codes,
                       int64_t leaves, cudaStream_t stream);
int fused_decode(const struct fused_decoder *weights, const uint8_t *codes, float *leaves_out,
                 int64_t leaves, int blocks_at_once, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
