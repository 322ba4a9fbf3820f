/*
 * mma_layout.h - which lane holds and addresses what, for mma.sync with fp32 accumulators and for
 * ldmatrix. Pure, for the host too: tests compare it with the tables of the PTX manual (sections
 * "Matrix fragments for mma.m16n8k8, m16n8k16").
 *
 * Units are 16-byte chunks. One step of k is two chunks: 16 bf16 (m16n8k16) or 8 tf32 (m16n8k8),
 * whose fragments have the same shape in bytes. ldmatrix.x4 loads four matrices of 8 rows of one
 * chunk; lane l gives the address of row l % 8 of matrix l / 8 and receives word l % 4 of row l / 4
 * of each.
 */
#pragma once

#ifdef __CUDACC__
#define MMA_FUNCTION static __host__ __device__ __forceinline__
#else
#define MMA_FUNCTION static inline
#endif

/* A row of a tile in shared memory, and a chunk of that row. */
struct mma_place {
    int row, chunk;
};

/* A, rows along m, chunks along k: registers a0 to a3 of a 16-row tile. */
MMA_FUNCTION struct mma_place mma_place_a(int lane)
{
    struct mma_place place = {lane % 16, lane / 16};
    return place;
}

/* B, rows along n, chunks along k: b0, b1 of one 8-column tile, then of the next. */
MMA_FUNCTION struct mma_place mma_place_b(int lane)
{
    struct mma_place place = {lane / 16 * 8 + lane % 8, lane / 8 % 2};
    return place;
}

/* B of bf16, rows along k, chunks along n, for ldmatrix.trans: the same registers. */
MMA_FUNCTION struct mma_place mma_place_b_trans(int lane)
{
    struct mma_place place = {lane / 8 % 2 * 8 + lane % 8, lane / 16};
    return place;
}

/* Accumulator i (0 to 3) of a 16 x 8 tile. */
MMA_FUNCTION int mma_row(int lane, int i)
{
    return lane / 4 + i / 2 * 8;
}

MMA_FUNCTION int mma_column(int lane, int i)
{
    return lane % 4 * 2 + i % 2;
}

/* The place of a chunk of a row, chosen so that any eight successive rows of one column of chunks
 * are in different banks; for rows of 8 chunks (128 bytes) or a multiple. */
MMA_FUNCTION int mma_swizzle(int row, int chunk)
{
    return chunk ^ (row & 7);
}

/* The same for rows of 2 or 4 chunks (32 or 64 bytes); 4 or 2 such rows share a line. */
MMA_FUNCTION int mma_swizzle_narrow(int row, int chunk, int chunks)
{
    int lines = 8 / chunks;
    return chunk ^ (row / lines & (chunks - 1));
}

/* The same for single words of B, tf32, rows along k: lanes take 4 rows and 8
 * neighbouring columns (2 chunks) at a time. */
MMA_FUNCTION int mma_swizzle_words(int row, int chunk)
{
    return chunk ^ ((row & 3) << 1);
}
