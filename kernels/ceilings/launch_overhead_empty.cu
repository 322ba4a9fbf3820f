/*
 * launch_overhead_empty.cu - empty kernels of one warp, launched one by one, or
 * captured in setup and replayed as one graph.
 *
 * Launching one by one takes the host's time, so `stream` is timed by the host's
 * clock from the first call to the completed synchronisation. A graph runs off
 * without the host; `graph` is timed by the device's.
 *
 * Bytes: none. Operations: none.
 */
#include <cuda_runtime.h>

#include "launch_overhead.h"

static __global__ void nothing()
{
}

static int launch_each(struct assay_call *call)
{
    for (int64_t i = 0; i < call->shape->value[LAUNCH_COUNT]; i++)
        nothing<<<1, 32, 0, (cudaStream_t)call->stream>>>();
    return assay_launched();
}

/* ---------------------------------------------------------------- stream -- */

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
    .launch = launch_each,
};
ASSAY_REGISTER_VARIANT(stream);

/* ----------------------------------------------------------------- graph -- */

static const char *supports_graph(const struct assay_shape *shape)
{
    return shape->value[LAUNCH_HOW] == LAUNCH_GRAPH ? NULL : "a graph only";
}

/* The launches as a graph; a capture that was begun is always ended. */
static int capture(struct assay_call *call, cudaGraph_t *graph)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (assay_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture"))
        return -1;
    int launched = launch_each(call);
    if (assay_cuda(cudaStreamEndCapture(stream, graph), "capture")) return -1;
    if (launched) {
        cudaGraphDestroy(*graph);
        return -1;
    }
    return 0;
}

static int setup_graph(struct assay_call *call)
{
    cudaGraph_t graph;
    cudaGraphExec_t replay = NULL;
    if (capture(call, &graph)) return -1;
    int failed = assay_cuda(cudaGraphInstantiate(&replay, graph, 0), "graph");
    cudaGraphDestroy(graph);
    if (failed) return -1;
    call->state = replay;
    return assay_cuda(cudaGraphUpload(replay, (cudaStream_t)call->stream), "graph");
}

static int launch_graph(struct assay_call *call)
{
    return assay_cuda(cudaGraphLaunch((cudaGraphExec_t)call->state, (cudaStream_t)call->stream),
                      "graph");
}

static void teardown_graph(struct assay_call *call)
{
    if (call->state) cudaGraphExecDestroy((cudaGraphExec_t)call->state);
}

static const struct assay_variant graph = {
    .operation = "launch_overhead",
    .name = "graph",
    .summary = "one replay of a graph of them",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports_graph,
    .setup = setup_graph,
    .launch = launch_graph,
    .teardown = teardown_graph,
};
ASSAY_REGISTER_VARIANT(graph);
