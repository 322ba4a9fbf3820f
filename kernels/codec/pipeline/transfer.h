/*
 * transfer.h - the dims and buffers of the operation `transfer`, and the host's side of its
 * copies.
 *
 * The operation's buffers are the device's side; a direction uses one or both of them. The host's
 * side belongs to the variant, because variants differ in how it is allocated. All of them hold
 * link_byte(i), so that each side can be checked alone.
 */
#pragma once

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

enum transfer_dim { TRANSFER_BYTES, TRANSFER_DIRECTION };
enum transfer_direction { TRANSFER_H2D, TRANSFER_D2H, TRANSFER_BOTH };

static inline bool transfer_up(const struct assay_shape *shape)
{
    return shape->value[TRANSFER_DIRECTION] != TRANSFER_D2H;
}

static inline bool transfer_down(const struct assay_shape *shape)
{
    return shape->value[TRANSFER_DIRECTION] != TRANSFER_H2D;
}

/* The device's side: where bytes from the host go, if any do. */
static inline void *transfer_destination(const struct assay_call *call)
{
    return transfer_up(call->shape) ? call->buffer[0] : NULL;
}

/* And where bytes to the host come from. */
static inline void *transfer_source(const struct assay_call *call)
{
    if (!transfer_down(call->shape)) return NULL;
    return call->buffer[transfer_up(call->shape) ? 1 : 0];
}

/* The host's source gets its bytes; a destination gets bytes that are wrong
 * everywhere. */
void transfer_host_source(uint8_t *host, int64_t bytes);
void transfer_host_poison(uint8_t *host, int64_t bytes);

/* 0, or assay_error at the first byte that did not arrive. */
int transfer_host_check(const uint8_t *host, int64_t bytes);

#ifdef __cplusplus
}
#endif
