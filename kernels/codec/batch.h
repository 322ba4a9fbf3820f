/*
 * batch.h - what the operations codec_encode_batch and codec_decode_batch share: many
 * batches of leaves, from host memory through the codec's network to host memory.
 *
 * The operations' buffers hold all batches, one behind the other. A variant for a GPU
 * keeps host memory of its own: it takes its input there in setup and brings its
 * output back in `check`, so that a launch goes from host to host.
 */
#ifndef CODEC_BATCH_H
#define CODEC_BATCH_H

#include "codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum batch_dim { BATCH_LEAVES, BATCH_COUNT, BATCH_VOLUME }; /* decode has no volume */
enum batch_buffer { BATCH_IN, BATCH_OUT };
enum batch_way { BATCH_ENCODE, BATCH_DECODE };

/* The leaf as voxels, and as codewords' numbers. */
enum { LEAF_BYTES = 4 * LEAF_VOXELS, LEAF_CODE_BYTES = LEAF_VECTORS };

/* Leaf i of a volume is the volume's leaf BATCH_STRIDE i: a few leaves are from all over
 * it, and not its first corner alone. Odd, so that all are different. */
enum { BATCH_STRIDE = 5077, BATCH_DISTINCT = 32 * 32 * 32 };

/* Operations are refused above this many leaves. */
#define BATCH_MOST_LEAVES (INT64_C(1) << 32)

static inline int64_t batch_leaves(const struct assay_shape *shape)
{
    return shape->value[BATCH_LEAVES] * shape->value[BATCH_COUNT];
}

static inline int64_t batch_in_bytes(enum batch_way way)
{
    return way == BATCH_ENCODE ? LEAF_BYTES : LEAF_CODE_BYTES;
}

static inline int64_t batch_out_bytes(enum batch_way way)
{
    return way == BATCH_ENCODE ? LEAF_CODE_BYTES : LEAF_BYTES;
}

#ifdef __cplusplus
}
#endif

#endif
