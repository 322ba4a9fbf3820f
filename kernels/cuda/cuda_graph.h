/*
 * cuda_graph.h - launches captured in a CUDA graph and replayed. A replay needs no launches by the
 * host, which take longer than a short kernel; so candidates are timed in graphs, too.
 */
#pragma once

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues `what` on a stream; 0, or -1. It may neither allocate nor synchronise. */
struct cuda_work {
    int (*enqueue)(const void *what, void *stream);
    const void *what;
};

/* Capture `work`, `repeats` times in a row, and upload the graph to the device. 0; or -1 with
 * assay_error, and NULL in *graph. */
int cuda_graph_record(cudaGraphExec_t *graph, const struct cuda_work *work, int repeats);
int cuda_graph_launch(cudaGraphExec_t graph, void *stream);
/* Accepts NULL. */
void cuda_graph_release(cudaGraphExec_t graph);

/* The time of `work` in microseconds, with warm caches: the shortest of a few replays of a graph
 * that has it up to twenty times, divided by that number. INFINITY if it is refused, or if single
 * launches show that it takes far longer than `least_us`. */
double cuda_graph_time_us(const struct cuda_work *work, void *stream, double least_us);

/* Microseconds of one launch of a graph that has `work` once, behind another such launch, during
 * which the host enqueues it: for candidates of few kernels and of many, whose times per repetition
 * in a long graph are not comparable. INFINITY if it fails. */
double cuda_graph_single_us(const struct cuda_work *work, void *stream);

#ifdef __cplusplus
}
#endif
