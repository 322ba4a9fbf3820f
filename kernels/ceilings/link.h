/*
 * link.h - the dims of the operation `link`, and the host's side of its copies.
 *
 * The operation's buffer is the device's side. The host's side belongs to the variant, because
 * variants differ in how it is allocated. Both hold link_byte(i), which depends only on i, so that
 * each side can be checked without the other.
 */
#pragma once

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

enum link_dim { LINK_BYTES, LINK_DIRECTION, LINK_MEMORY };
enum link_direction { LINK_H2D, LINK_D2H, LINK_DIRECTIONS };
enum link_memory { LINK_PINNED, LINK_PAGEABLE, LINK_MEMORIES };
enum { LINK_DEVICE }; /* the only buffer */

static inline uint8_t link_byte(int64_t index)
{
    return (uint8_t)((uint64_t)index * 0x9e3779b97f4a7c15u >> 56);
}

/* assay_operation.reference for copies into the operation's buffers: element i is link_byte(i). */
int link_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                   int64_t begin, int64_t end, double *expected, double *bound);

/* To be called before the first copy: fills a source with link_byte(i), and a destination with
 * bytes that all differ from it. */
void link_host_prepare(const struct assay_shape *shape, uint8_t *host);

/* To be called after copies to the host: 0 with the wrong bytes restored, or -1 with assay_error at
 * the first byte that did not arrive. 0 for copies in the other direction. */
int link_host_check(const struct assay_shape *shape, uint8_t *host);

#ifdef __cplusplus
}
#endif
