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

/* Cards below the data centre's have not the shared memory for all activations of a block. There
 * the residual stream, FUSED_SLOT_BYTES of two leaves at 8^3 or of four at 4^3, is in a slot of
 * device memory, which a block takes for as long as it runs. As many slots as multiprocessors are
 * enough; with fewer than blocks, blocks wait. No slots: all is in shared memory. */
enum { FUSED_SLOT_BYTES = 64 << 10 };
struct fused_outside {
    void *memory;    /* [slots] of FUSED_SLOT_BYTES */
    unsigned *taken; /* [slots], 0 between launches */
    int slots;
};

/* Shared memory of a block of the larger kernel of each; the other one has less. */
int64_t fused_encode_shared_bytes(bool outside);
int64_t fused_decode_shared_bytes(bool outside);

/* Once, before the first launch: allow the shared memory. */
int fused_prepare_encode_large(bool outside);
int fused_prepare_encode_small(void);
int fused_prepare_decode(bool outside);

/* Enqueue; `leaves` is at least 1. The encoder has two kernels: the layers at 8^3 and the
 * convolution down, which write FUSED_LEAF_BYTES per leaf, and the layers at 4^3. Where leaves
 * are few, several blocks decode each group of four, as many as `blocks_at_once` allows
 * (multiprocessors that are free; 1: none to spare, as with slots outside). */
int fused_encode_large(const struct fused_encoder *weights, const struct fused_outside *outside,
                       const float *leaves_in, float *to, int64_t leaves, cudaStream_t stream);
int fused_encode_small(const struct fused_encoder *weights, const float *from, uint8_t *codes,
                       int64_t leaves, cudaStream_t stream);
int fused_decode(const struct fused_decoder *weights, const struct fused_outside *outside,
                 const uint8_t *codes, float *leaves_out, int64_t leaves, int blocks_at_once,
                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif
