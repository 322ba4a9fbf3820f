/*
 * pipe_compare.h - compares a pipeline's whole output with one plain pass of the network. Pure.
 *
 * The reference in double is slow, so the harness asks it for two leaves of a pipeline only. What
 * a pipeline can get wrong is which batch went where, and that can show in any leaf. So all leaves
 * are compared with those of the same network, called once more on one stream and cut at other
 * places. Both have the same arithmetic and differ only in the order of sums: a near tie may change
 * a code, and a voxel may be off by a rounding.
 */
#pragma once

#include "pipe_batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many of a leaf's 64 codes may differ, and which share of all codes; no voxel may be off by
 * more than the operation's tolerance. A leaf beyond that is wrong. */
enum { COMPARE_LEAF_TIES = 8 };
#define COMPARE_TIE_SHARE 1e-3
#define COMPARE_VOXEL     4e-3

struct pipe_finding {
    int64_t compared;     /* codes or voxels */
    int64_t differing;    /* codes that are others, voxels beyond the tolerance */
    int64_t wrong_leaves; /* by the rule for a leaf */
    int64_t first_wrong;  /* the least leaf's number, from the first of all batches; -1 */
};

/* Nothing compared yet. */
struct pipe_finding pipe_finding_none(void);

/* Add leaves first to first + leaves - 1; `got` and `plain` hold their outputs. */
void pipe_compare(enum pipe_direction direction, const void *got, const void *plain, int64_t first,
                  int64_t leaves, struct pipe_finding *finding);

/* 0, or -1 with assay_error: how many leaves are wrong, and the batch of the first; or that
 * more codes differ than near ties explain. */
int pipe_judge(enum pipe_direction direction, const struct pipe_finding *finding,
               int64_t leaves_a_batch);

#ifdef __cplusplus
}
#endif
