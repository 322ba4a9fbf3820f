/*
 * pipe_batch.h - what the operations codec_encode_batch and codec_decode_batch share: many batches
 * of leaves, from host memory through the codec's network to host memory.
 *
 * The operations' buffers hold all batches, one after the other. A variant for a GPU has host
 * memory of its own: it copies its input there in setup and its output back in `check`, so that a
 * launch goes from host memory to host memory.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pipe_dim { PIPE_LEAVES, PIPE_BATCHES, PIPE_VOLUME }; /* decode has no volume */
enum pipe_buffer { PIPE_IN, PIPE_OUT };
enum pipe_direction { PIPE_ENCODE, PIPE_DECODE };

/* The leaf as voxels, and as codewords' numbers. */
enum { LEAF_BYTES = 4 * LEAF_VOXELS, LEAF_CODE_BYTES = LEAF_VECTORS };

/* Leaf i of a volume is the volume's leaf PIPE_STRIDE i: a few leaves are from all over
 * it, and not its first corner alone. Odd, so that all are different. */
enum { PIPE_STRIDE = 5077, PIPE_DISTINCT = 32 * 32 * 32 };

/* The choice of PIPE_VOLUME behind the procedural volumes: the user's grid (grid.h). */
enum { PIPE_VOLUME_GRID = 3 };

/* The first step of every setup: -1 with assay_error where the volume is a grid that cannot be
 * used; else 0, and call->note names the grid. */
int pipe_volume_open(struct assay_call *call);

/* Operations are refused above this many leaves. */
#define PIPE_MOST_LEAVES (INT64_C(1) << 32)

/* The dims that both operations have; LEAVES says what the leaves of a batch are. */
#define PIPE_DIMS(LEAVES)                                                                          \
    [PIPE_LEAVES] = {.name = "leaves",                                                             \
                     .summary = LEAVES " in a batch; 0: empty batches",                            \
                     .fallback = 64,                                                               \
                     .min = 0,                                                                     \
                     .max = 1 << 24},                                                              \
    [PIPE_BATCHES] = {.name = "batches",                                                           \
                      .summary = "batches in a launch",                                            \
                      .fallback = 127,                                                             \
                      .min = 1,                                                                    \
                      .max = 1 << 20}

/* assay_operation.supports of both. */
static inline const char *pipe_supports(const struct assay_shape *shape)
{
    if (shape->value[PIPE_LEAVES] > PIPE_MOST_LEAVES / shape->value[PIPE_BATCHES])
        return "more than 2^32 leaves";
    return NULL;
}

static inline int64_t pipe_leaves(const struct assay_shape *shape)
{
    return shape->value[PIPE_LEAVES] * shape->value[PIPE_BATCHES];
}

static inline int64_t leaf_in_bytes(enum pipe_direction direction)
{
    return direction == PIPE_ENCODE ? LEAF_BYTES : LEAF_CODE_BYTES;
}

static inline int64_t leaf_out_bytes(enum pipe_direction direction)
{
    return direction == PIPE_ENCODE ? LEAF_CODE_BYTES : LEAF_BYTES;
}

#ifdef __cplusplus
}
#endif
