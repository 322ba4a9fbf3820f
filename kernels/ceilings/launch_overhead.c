/*
 * launch_overhead.c - operation `launch_overhead`: empty kernels, back to back. The time of one
 * launch is the time of the case divided by the dim `launches`.
 *
 * Bytes: none. Operations: none. There is no output.
 */
#include "launch_overhead.h"

static const char *const hows[] = {"stream", "graph", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    return (struct assay_work){.read_bytes = 0};
}

static const char *const baselines[] = {"stream", "graph", "calls", NULL};

static const struct assay_operation launch_overhead = {
    .name = "launch_overhead",
    .summary = "empty kernels back to back: time / launches is the cost of one",
    .dims = {{.name = "launches",
              .summary = "kernels in one sample",
              .fallback = 1000,
              .min = 1,
              .max = 1 << 20},
             {.name = "how",
              .summary = "launched one by one into a stream, or as one graph",
              .choices = hows,
              .fallback = LAUNCH_STREAM}},
    .buffers = buffers,
    .work = work,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(launch_overhead);
