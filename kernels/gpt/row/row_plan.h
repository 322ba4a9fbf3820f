/*
 * row_plan.h - how the rows of a call are divided among lanes, warps and blocks, by rule or
 * measured in setup. Knows the kernels as addresses only.
 */
#pragma once

#include "assay.h"

enum {
    ROW_WARPS = 32,      /* of a block, at most: each thread has 64 registers */
    ROW_LOG_CLUSTER = 4, /* 16 blocks of a cluster, at most */
    ROW_TEAM_WARPS = 8,  /* of a block in which each warp has rows of its own, at most */
    ROW_SLOTS = 4,       /* of a ring, at most */
    ROW_RING_HEAD = 128, /* bytes: a barrier per slot, in front of the slots or the row */
    ROW_STREAM_THREADS = 512,
    ROW_NAIVE_THREADS = 128,
    ROW_ARGS_BYTES = 96,
    ROW_KERNELS = 4, /* with 1, 2, 4 and 8 pieces per lane */
    ROW_NARROW = 4,  /* with four pieces in each of 2, 4, 8 or 16 lanes */
};

/* How a row is divided. With one warp or less per row and no cluster, a block has `rows` rows. */
struct row_team {
    int log_cluster; /* 1 << log_cluster blocks per row */
    int warps;       /* per row and block */
    int rows;        /* per block; above 1 only with one warp or less and no cluster */
    int slots;       /* of a ring: rows, or a block's shares of them, in shared memory */
    int share;       /* with rows in shared memory: pieces of one that a block has, at most */
};

/* A call as the kernels see it. */
struct row_job {
    int64_t rows;
    int pieces;     /* of a row, at most */
    int part_bytes; /* of what a warp tells the others */
    int gains;      /* arrays of weights */
    int edge;       /* elements of a row in no whole piece, at most; 0: all rows are aligned */
    const void *registers[ROW_KERNELS], *ring[ROW_KERNELS], *narrow[ROW_NARROW];
    const void *shared, *stream, *naive;
    char args[ROW_ARGS_BYTES]; /* their first argument */
};

/* Elements of a row in no whole piece of `width`, a power of two, at most, where rows begin one
 * behind the other: alignments recur after `width` rows. */
static inline int row_edge(int columns, int width)
{
    int most = 0;
    for (int row = 0; row < width; row++) {
        int head = -(row * (columns % width)) & (width - 1);
        if (head > columns) head = columns;
        int edge = head + (columns - head) % width;
        if (edge > most) most = edge;
    }
    return most;
}

/* How one launch divides its rows. */
struct row_plan {
    const void *kernel;
    struct row_team team;
    unsigned blocks; /* of a ring: at most, one round of them */
    int threads, shared_bytes;
    int lane_pieces; /* 0: streamed */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Each fills `plan` and returns NULL, or why these rows cannot be divided so. */
const char *row_plan_naive(const struct row_job *job, struct row_plan *plan);
const char *row_plan_stream(const struct row_job *job, struct row_plan *plan);
const char *row_plan_block(const struct row_job *job, struct row_plan *plan);
const char *row_plan_cluster(const struct row_job *job, struct row_plan *plan);
const char *row_plan_shared(const struct row_job *job, struct row_plan *plan);
const char *row_plan_ring(const struct row_job *job, struct row_plan *plan);

/* In setup: let the plan's kernel have its clusters and its shared memory, and a ring as many
 * blocks as fit at a time. 0, or -1 with assay_error. */
int row_plan_allow(struct row_plan *plan);

/* 0, or -1 with assay_error. */
int row_plan_launch(const struct row_job *job, const struct row_plan *plan, void *stream);

/* The fastest plan of all that fit, measured as the case will be; writes the call's note. 0, -1 or
 * ASSAY_SKIP. */
int row_plan_best(const struct row_job *job, struct assay_call *call, struct row_plan *plan);

#ifdef __cplusplus
}
#endif
