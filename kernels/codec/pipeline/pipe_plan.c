#include "pipe_plan.h"

#include <math.h>
#include <stdlib.h>

/* The alignment of cudaMalloc, which the network needs too; and how many leaves' codes fill it. */
enum { ALIGNMENT = 256, PART_STEP = ALIGNMENT / LEAF_CODE_BYTES };

static int64_t place(struct pipe_block *block, int64_t bytes)
{
    int64_t at = block->bytes;
    block->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

struct pipe_block pipe_block(enum pipe_direction direction, const struct pipe_axes *axes,
                             int64_t leaves, int64_t workspace_bytes)
{
    struct pipe_block block = {0};
    int64_t in_bytes = leaves * leaf_in_bytes(direction);
    block.in = place(&block, in_bytes);
    block.out = place(&block, leaves * leaf_out_bytes(direction));
    block.extra = place(&block, axes->copies & PIPE_EXTRA ? in_bytes : 0);
    block.wide =
        place(&block,
              axes->copies & PIPE_WIDEN ? leaves * LEAF_CODE_BYTES * (int64_t)sizeof(int64_t) : 0);
    block.workspace = place(&block, workspace_bytes);
    return block;
}

int64_t pipe_part(enum pipe_direction direction, const struct pipe_axes *axes, int64_t leaves,
                  int64_t free_bytes,
                  int64_t (*workspace)(enum pipe_direction direction, int64_t leaves),
                  int64_t *needed)
{
    int64_t most = axes->part && axes->part < leaves ? axes->part : leaves;
    for (int64_t part = most;; part = (part / 2 + PART_STEP - 1) / PART_STEP * PART_STEP) {
        *needed =
            axes->depth * pipe_block(direction, axes, leaves, workspace(direction, part)).bytes;
        if (*needed <= free_bytes) return part;
        if (part <= PART_STEP) return 0;
    }
}

int pipe_depth(const struct pipe_axes *axes, int64_t batches, int gpus)
{
    int64_t most = (batches + gpus - 1) / gpus;
    return most < 1 ? 1 : most < axes->depth ? (int)most : axes->depth;
}

bool pipe_networks_overlap(const struct pipe_axes *axes)
{
    return axes->streams == PIPE_WHOLE && axes->depth > 1;
}

double pipe_bound_ns(const struct pipe_times *times)
{
    double copies_ns = fmax(times->staging_ns, fmax(times->h2d_ns, times->d2h_ns));
    return fmax(times->networks_ns, copies_ns);
}

double pipe_share(double bound_ns, double launch_ns)
{
    return launch_ns > 0 ? bound_ns / launch_ns : NAN;
}

double pipe_overlap_share(const struct pipe_times *times)
{
    double sum = times->staging_ns + times->h2d_ns + times->networks_ns + times->d2h_ns;
    double most = sum - pipe_bound_ns(times);
    return most > 0 ? (sum - times->launch_ns) / most : NAN;
}

static int in_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double pipe_median(double *values, int count)
{
    if (count == 0) return NAN;
    qsort(values, (size_t)count, sizeof *values, in_order);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double pipe_stage_ns(double *timed_ns, int count, int64_t batches)
{
    if (count == 0) return 0;
    double median_ns = pipe_median(timed_ns, count);
    return median_ns >= 0 ? median_ns * (double)batches : NAN;
}

double pipe_each_ns(double sum_ns, int64_t calls)
{
    return calls > 0 ? sum_ns / (double)calls : NAN;
}
