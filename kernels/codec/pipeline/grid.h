/*
 * grid.h - the volume that a user brings: a raw grid in a file, by the environment.
 *
 *   ASSAY_GRID         the file's path
 *   ASSAY_GRID_VOXELS  its edges, as in 512x512x256
 *
 * A fill reads it, in the process that measures; what it took, or that it took nothing, is
 * kept there for the variants that are set up afterwards. Not safe to call from several
 * threads at once.
 */
#pragma once

#include "kernels/codec/leaves.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The distance, modulo count, in a grid of `count` leaves between two leaves that follow one
 * another in the input. A launch that takes fewer leaves gets them from all over the grid, even
 * its first few, and none twice. */
int64_t grid_stride(int64_t count);

/* `leaves` leaves of the grid, into LEAF_VOXELS * leaves floats. 0, or -1 with assay_error. */
int grid_fill(int64_t leaves, float *out);

/* 0 unless the last fill failed; then -1 with assay_error, why: the file is read again. */
int grid_refused(void);

/* Which file the last fill took: "input 1f2e3d4c cloud.raw 512x512x256", the first a hash of its
 * leaves, by which `assay compare` tells files apart. The name is cut to what fits; ""
 * where there was no fill. */
void grid_note(char *out, size_t size);

/* A hash of the words, the same on every machine; their order counts. */
uint32_t grid_hash(const float *voxels, int64_t count);

#ifdef __cplusplus
}
#endif
