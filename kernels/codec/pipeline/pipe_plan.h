/*
 * pipe_plan.h - the axes along which batch pipelines differ, where the parts of a batch are in its
 * block of device memory, and what follows from the times of its stages. Pure.
 */
#pragma once

#include "pipe_batch.h"

/* Where the host's side of the copies lies. */
enum pipe_host {
    PIPE_PAGEABLE,
    PIPE_PINNED,         /* page-locked once, batches are copied from where they are */
    PIPE_STAGED,         /* ordinary; through page-locked memory that is kept */
    PIPE_PINNED_EACH,    /* the same through memory that is page-locked for each batch */
    PIPE_WRITE_COMBINED, /* the input; the output is pinned, as the host reads it */
    PIPE_MAPPED,         /* pinned, read and written by the network itself: no copies */
};

/* How a batch comes by its block of device memory. PIPE_BY_SHAPE: a list of free blocks, in which
 * one of the batch's size is looked for before cudaMalloc. */
enum pipe_alloc { PIPE_MALLOC, PIPE_ASYNC_0, PIPE_ASYNC_MAX, PIPE_BY_SHAPE, PIPE_PREALLOCATED };

enum pipe_streams {
    PIPE_WAIT,  /* one stream, and the host waits for each batch */
    PIPE_AHEAD, /* one stream, all batches enqueued ahead */
    PIPE_ROLES, /* one stream in, one for the network, one out; `depth` batches in flight */
    PIPE_WHOLE, /* `depth` streams in turns, each with a buffer and a whole batch in it */
};

/* Copies that nothing needs; bits. */
enum pipe_copies {
    PIPE_EXTRA = 1, /* the input once more in device memory */
    PIPE_WIDEN = 2, /* the code bytes to int64 and back, as frameworks index */
};

enum { PIPE_MOST_SLOTS = 8 };

struct pipe_axes {
    enum pipe_host host;
    enum pipe_alloc alloc;
    enum pipe_streams streams;
    int depth; /* batches in flight, 1 to PIPE_MOST_SLOTS */
    unsigned copies;
    bool graph; /* the network's kernels launched as one graph; PIPE_PREALLOCATED only */
    bool all_gpus;
    int64_t part; /* leaves that the network takes at a time, at most: fours; 0: all of a batch */
};

/* A batch's block of device memory: where its parts begin, in bytes. Parts that the
 * axes do not ask for have no length. */
struct pipe_block {
    int64_t in, out, extra, wide, workspace, bytes;
};

/* `leaves` a batch, and so many bytes of workspace for the network. */
struct pipe_block pipe_block(enum pipe_direction direction, const struct pipe_axes *axes,
                             int64_t leaves, int64_t workspace_bytes);

/*
 * How many leaves the network takes at a time: all of a batch (at most `axes->part`), or
 * a half, a quarter and so on, rounded up to four, until `axes->depth` blocks fit in
 * `free_bytes`. `workspace` gives the network's need for so many leaves and grows with
 * them. 0 where not even four leaves at a time fit; *needed is what the last try asked for.
 */
int64_t pipe_part(enum pipe_direction direction, const struct pipe_axes *axes, int64_t leaves,
                  int64_t free_bytes,
                  int64_t (*workspace)(enum pipe_direction direction, int64_t leaves),
                  int64_t *needed);

/* How many batches are in flight on a GPU: what the axes say, and never more than one GPU
 * gets of all; 1 at least. */
int pipe_depth(const struct pipe_axes *axes, int64_t batches, int gpus);

/* Whether batches' networks run side by side on one GPU. */
bool pipe_networks_overlap(const struct pipe_axes *axes);

/* Sums over the batches of one launch, each stage timed separately, and a launch's time. */
struct pipe_times {
    int64_t calls;
    double h2d_ns, compute_ns, d2h_ns;
    double networks_ns; /* all networks as a launch has them: compute_ns, or side by side */
    double staging_ns;  /* the host's copies of staged batches in a launch, by its clock; else 0 */
    double alloc_ns;    /* by the host's clock */
    double launch_ns;
};

/* A pipeline takes at least as long as its longest stage: h2d, the networks as they run in a
 * launch, d2h, or the host's copies. The pipelines of several GPUs overlap, so the longest of
 * their bounds holds. */
double pipe_bound_ns(const struct pipe_times *times);

/* The share of the bound that a launch reached; NAN without a launch's time. */
double pipe_share(double bound_ns, double launch_ns);

/* The share saved of what overlapping could save, which is sum less longest; below 0
 * where the launch took longer than all stages in turn; NAN where nothing could. */
double pipe_overlap_share(const struct pipe_times *times);

/* The middle one, or the mean of two; sorts. NAN of none. */
double pipe_median(double *values, int count);

/* The time of a stage for all batches, from those of `count` timed ones: their median times the
 * number of batches; sorts. 0 where none was timed; NAN where the result is below 0, because the
 * noise of the clock was more than the stage. */
double pipe_stage_ns(double *timed_ns, int count, int64_t batches);

/* The mean time of a stage per call; NAN without a call. */
double pipe_each_ns(double sum_ns, int64_t calls);
