/*
 * empty.cu - an empty kernel: of `empty` in blocks of at most 1024 threads; of `launch_overhead`
 * one warp after the other, launched one by one, or captured in setup and replayed as one graph.
 *
 * Launching one by one takes the host's time, so `stream` is timed by the host's clock, from the
 * first call to the end of the synchronisation. A graph runs without the host, so `graph` is timed
 * by the device's clock.
 *
 * Bytes: none. Operations: none.
 */
#include <cuda_runtime.h>

#include "kernels/cuda/cuda_graph.h"
#include "launch_overhead.h"

static __global__ void nothing()
{
}

/* ----------------------------------------------------------------- empty -- */

enum { BLOCK = 1024 };

static int launch_once(struct assay_call *call)
{
    int64_t threads = call->shape->value[0];
    int64_t block = threads < BLOCK ? threads : (int64_t)BLOCK;
    nothing<<<(unsigned)((threads + block - 1) / block), (unsigned)block, 0,
              (cudaStream_t)call->stream>>>();
    return assay_launched();
}

static const struct assay_variant kernel = {
    .operation = "empty",
    .name = "kernel",
    .summary = "an empty kernel",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_once,
};
ASSAY_REGISTER_VARIANT(kernel);

/* ------------------------------------------------------- launch_overhead -- */

static int launch_each(const struct assay_call *call, cudaStream_t stream)
{
    for (int64_t i = 0; i < call->shape->value[LAUNCH_COUNT]; i++)
        nothing<<<1, 32, 0, stream>>>();
    return assay_launched();
}

static int launch_stream(struct assay_call *call)
{
    return launch_each(call, (cudaStream_t)call->stream);
}

static const char *supports_stream(const struct assay_shape *shape)
{
    return shape->value[LAUNCH_HOW] == LAUNCH_STREAM ? NULL : "one by one only";
}

static const struct assay_variant stream = {
    .operation = "launch_overhead",
    .name = "stream",
    .summary = "launched one by one into a stream",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .supports = supports_stream,
    .launch = launch_stream,
};
ASSAY_REGISTER_VARIANT(stream);

static const char *supports_graph(const struct assay_shape *shape)
{
    return shape->value[LAUNCH_HOW] == LAUNCH_GRAPH ? NULL : "a graph only";
}

static int enqueue(const void *call, void *stream)
{
    return launch_each((const struct assay_call *)call, (cudaStream_t)stream);
}

static int setup_graph(struct assay_call *call)
{
    const struct cuda_work work = {enqueue, call};
    cudaGraphExec_t graph;
    if (cuda_graph_record(&graph, &work, 1)) return -1;
    call->state = graph;
    return 0;
}

static int launch_graph(struct assay_call *call)
{
    return cuda_graph_launch((cudaGraphExec_t)call->state, call->stream);
}

static void teardown_graph(struct assay_call *call)
{
    cuda_graph_release((cudaGraphExec_t)call->state);
}

static const struct assay_variant graph = {
    .operation = "launch_overhead",
    .name = "graph",
    .summary = "one replay of a graph of them",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_graph,
    .setup = setup_graph,
    .launch = launch_graph,
    .teardown = teardown_graph,
};
ASSAY_REGISTER_VARIANT(graph);
