/*
 * linear_fp32.h - the product in fp32 on the CUDA cores (linear_fp32.cu), in one of a few sizes of
 * tile, for w that is not transposed and operands that keep their addresses.
 */
#pragma once

#include "linear_parts.cuh"
#include "linear_steps.h"

enum { LINEAR_FP32_TILINGS = 6 };

struct linear_fp32 {
    struct linear_operands operands;
    struct tile_parts parts;
    int tiling;
    int bands, columns; /* tiles */
    struct linear_division division;
    int blocks;
    int cluster; /* of so many blocks, which divide k of a tile; 1: as `division` says */
};

/* "fp32 64 x 64, k in 4" */
void linear_fp32_name(const struct linear_fp32 *product, char *out, size_t size);

/* In setup; how tiles are divided (linear_parts.h). */
int linear_fp32_init(struct linear_fp32 *product, int tiling, enum linear_parts_how how,
                     const struct linear_operands *operands, const struct tile_parts *parts);
/* In setup: a cluster of `cluster` blocks for each tile divides its k. 0; or -1, also where the
 * card cannot or it would be no use. */
int linear_fp32_init_clusters(struct linear_fp32 *product, int tiling, int cluster,
                              const struct linear_operands *operands);
int linear_fp32_enqueue(const struct linear_fp32 *product, cudaStream_t stream);
