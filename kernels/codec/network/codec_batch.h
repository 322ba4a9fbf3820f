/*
 * codec_batch.h - the dims and buffers of the operations `codec_encode` and `codec_decode`: the
 * network (codec_net.h) on a batch in the memory of the device that runs it.
 *
 * The weights are those of codec_weights_default and not a buffer.
 */
#pragma once

#include "codec_net.h"

enum batch_dim { BATCH_LEAVES, BATCH_TYPE, BATCH_VOLUME }; /* decode has no volume */
enum batch_type { BATCH_FP32, BATCH_TF32 };
enum encode_buffer { ENCODE_LEAVES, ENCODE_CODES };
enum decode_buffer { DECODE_CODES, DECODE_LEAVES };

static const char *const batch_types[] = {"fp32", "tf32", NULL};

/* The dims that both operations have; LEAVES says what the leaves are. */
#define BATCH_DIMS(LEAVES)                                                                         \
    [BATCH_LEAVES] = {.name = "leaves",                                                            \
                      .summary = (LEAVES),                                                         \
                      .fallback = 64,                                                              \
                      .min = 1,                                                                    \
                      .max = 1 << 20},                                                             \
    [BATCH_TYPE] = {.name = "type",                                                                \
                    .summary = "arithmetic of the convolutions' products",                         \
                    .choices = batch_types,                                                        \
                    .fallback = BATCH_TF32}

/* How many leaves the figures of quality are computed from. */
enum { BATCH_LOOKED_AT = 32 };

/* assay_variant.supports of variants for one type. */
static inline const char *batch_only_fp32(const struct assay_shape *shape)
{
    return shape->value[BATCH_TYPE] == BATCH_FP32 ? NULL : "type fp32 only";
}

static inline const char *batch_only_tf32(const struct assay_shape *shape)
{
    return shape->value[BATCH_TYPE] == BATCH_TF32 ? NULL : "type tf32 only";
}

static inline enum assay_arithmetic batch_arithmetic(const struct assay_shape *shape)
{
    return shape->value[BATCH_TYPE] == BATCH_TF32 ? ASSAY_TF32 : ASSAY_FP32;
}
