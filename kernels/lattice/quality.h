/*
 * quality.h - figures for the quality of codes, or of what they decode to.
 *
 *   mse             per dimension, in units of the beta that a block was coded with (with its
 *                   2^T), over the blocks that fit and are not lost
 *   mse_ratio       mse divided by the second moment of the lattice's cell. It is 1 where points
 *                   are the closest ones and the data spread over many cells, and less where most
 *                   data share the cell at 0 (E8 q2m1 at its scale: 0.655)
 *   sqnr_db         over all blocks that are not lost, in units of x
 *   overload_rate   the share of blocks that are overloaded at beta, before any doubling
 *   bits_per_entry, code_bytes   include T
 */
#pragma once

#include "lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signature of assay_operation.quality, for encode and roundtrip: looks at the
 * first 2^20 entries or so. */
int lattice_quality(const struct assay_shape *shape, const void *const host[],
                    struct assay_metric out[ASSAY_MAX_METRICS]);
int lattice_quality_of(const struct lattice_job *job, const void *const host[], double code_bytes,
                       struct assay_metric out[ASSAY_MAX_METRICS]);

#ifdef __cplusplus
}
#endif
