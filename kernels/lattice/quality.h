/*
 * quality.h - the figures of quality of codes or of what they decode to.
 *
 * mse: per dimension, in units of the lattice (beta = 1), over the blocks that are
 * neither overloaded nor lost; mse_ratio: over the second moment of the lattice's
 * cell, 1 where the points are the closest; sqnr_db: over all blocks that are not lost,
 * in units of x; overload_rate: the share of blocks that are overloaded at beta,
 * before any doubling; bits_per_entry and code_bytes count T.
 */
#ifndef LATTICE_QUALITY_H
#define LATTICE_QUALITY_H

#include "lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signature of assay_operation.quality, for encode and roundtrip: looks at the
 * first 2^20 entries or so. */
int lattice_quality(const struct assay_shape *shape, const void *const host[],
                    struct assay_metric out[ASSAY_MAX_METRICS]);

#ifdef __cplusplus
}
#endif

#endif
