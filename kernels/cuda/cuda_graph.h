/*
 * cuda_graph.h - launches captured in a CUDA graph and replayed. A replay saves the host's time per
 * launch, which is longer than a short kernel. So candidates are timed in graphs, too.
 */
#pragma once

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Puts `what` on a stream; 0, or -1. It allocates nothing and waits for nothing. */
struct cuda_work {
    int (*enqueue)(const void *what, void *stream);
    const void *what;
};

/* `work`, `repeats` times over, as a graph that is on the device. 0; or -1 with
 * assay_error, and NULL in *graph. */
int cuda_graph_record(cudaGraphExec_t *graph, const struct cuda_work *work, int repeats);
int cuda_graph_launch(cudaGraphExec_t graph, void *stream);
/* NULL is no graph. */
void cuda_graph_release(cudaGraphExec_t graph);

/* Microseconds of `work`, warm: the shortest of a few replays of up to twenty of it. INFINITY
 * if it is refused, or if single launches show that it takes far longer than `least_us`. */
double cuda_graph_time_us(const struct cuda_work *work, void *stream, double least_us);

#ifdef __cplusplus
}
#endif
