/*
 * codec.h - the sizes that the codec family works with.
 *
 * A leaf is 8 x 8 x 8 voxels of fp32, 2048 bytes. The encoder turns it into 64 vectors of 128
 * numbers, and each vector into the index of the nearest of 256 codewords. Encoded, a leaf has 64
 * bytes, one per vector: a 32nd of its size.
 */
#pragma once

#include "assay.h"

enum {
    LEAF_EDGE = 8,
    LEAF_VOXELS = LEAF_EDGE * LEAF_EDGE * LEAF_EDGE,
    LEAF_VECTORS = 64, /* and so many bytes when encoded */
    CODEWORDS = 256,
    CODEWORD_LENGTH = 128, /* fp32 numbers */
};
