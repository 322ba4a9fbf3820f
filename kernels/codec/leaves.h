/*
 * leaves.h - leaves to encode, cut from procedural volumes or from a raw grid in a file.
 *
 * A leaf is LEAF_VOXELS fp32, x fastest, then y, then z.
 */
#pragma once

#include "codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum leaf_kind {
    LEAF_SMOKE, /* density: 0 outside the plume, up to 1 in it, four octaves of noise */
    LEAF_SDF,   /* signed distance to a bumpy shell in voxels, clamped to +-LEAF_BAND */
    LEAF_NOISE, /* white noise, uniform in [0, 1): no codebook can represent it */
    LEAF_KINDS,
};

/* Half the width of the narrow band of a signed distance, in voxels. */
#define LEAF_BAND 3.0f

/* A volume has LEAF_VOLUME leaves along each edge and repeats with another seed. */
enum { LEAF_VOLUME = 32 };

/* Leaves first to first + count - 1 of a volume, into LEAF_VOXELS * count floats.
 * Leaf i is a pure function of (kind, seed, i), the same on every machine. */
void leaves_make(enum leaf_kind kind, uint64_t seed, int64_t first, int64_t count, float *out);

/* How many leaves cover a grid with edges of so many voxels; -1 with assay_error where an edge is
 * not positive or the grid has more than 2^36 voxels. */
int64_t leaves_of_grid(const int64_t voxels[3]);

/*
 * Read a raw grid: voxels[0] * voxels[1] * voxels[2] fp32 in this machine's byte order, x fastest,
 * nothing else in the file. It is cut into leaves in the same order; a leaf that extends past the
 * grid's edge repeats its last voxels. The caller frees *leaves. -1 with assay_error where the file
 * cannot be read, is shorter or longer than the grid, or has a voxel that is not finite.
 */
int leaves_read(const char *path, const int64_t voxels[3], float **leaves, int64_t *count);

#ifdef __cplusplus
}
#endif
