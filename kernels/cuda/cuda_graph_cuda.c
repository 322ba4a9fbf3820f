/*
 * cuda_graph_cuda.c - see cuda_graph.h.
 */
#include "cuda_graph.h"

#include <math.h>

#include "cuda_error.h"

/* ----------------------------------------------------------------- graph -- */

static int capture(cudaStream_t stream, const struct cuda_work *work, int repeats,
                   cudaGraph_t *graph)
{
    if (cuda_error(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture"))
        return -1;
    int status = 0;
    for (int i = 0; i < repeats && status == 0; i++)
        status = work->enqueue(work->what, stream);
    /* A capture that failed must be ended too; the first error is the one to report. */
    cudaError_t ended = cudaStreamEndCapture(stream, graph);
    if (status) {
        cudaGetLastError();
        return -1;
    }
    return cuda_error(ended, "capture");
}

static int record_on(cudaStream_t stream, cudaGraphExec_t *graph, const struct cuda_work *work,
                     int repeats)
{
    cudaGraph_t captured = NULL;
    int failed = capture(stream, work, repeats, &captured) ||
                 cuda_error(cudaGraphInstantiate(graph, captured, 0), "instantiating a graph");
    if (captured) cudaGraphDestroy(captured);
    if (failed || cuda_error(cudaGraphUpload(*graph, stream), "uploading a graph")) return -1;
    return cuda_error(cudaStreamSynchronize(stream), "uploading a graph");
}

int cuda_graph_record(cudaGraphExec_t *graph, const struct cuda_work *work, int repeats)
{
    cudaStream_t stream; /* its own: the caller's may be one that cannot be captured */
    *graph = NULL;
    if (cuda_error(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream")) return -1;
    int status = record_on(stream, graph, work, repeats);
    cudaStreamDestroy(stream);
    if (status) {
        cuda_graph_release(*graph);
        *graph = NULL;
    }
    return status;
}

int cuda_graph_launch(cudaGraphExec_t graph, void *stream)
{
    return cuda_error(cudaGraphLaunch(graph, stream), "graph launch");
}

void cuda_graph_release(cudaGraphExec_t graph)
{
    if (graph) cudaGraphExecDestroy(graph);
}

/* ---------------------------------------------------------------- timing -- */

enum { STEPS = 20, REPLAYS = 5, LAUNCHES = 2 };
static const double REPLAY_US = 5e3; /* long work is repeated less often in a graph */

/* A stream, and two events on it to take times. */
struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

/* The time of one call; INFINITY if it fails. */
static double time_once_us(const struct stopwatch *watch, const struct cuda_work *work)
{
    float ms;
    if (cudaEventRecord(watch->begin, watch->stream) || work->enqueue(work->what, watch->stream) ||
        cudaEventRecord(watch->end, watch->stream) || cudaEventSynchronize(watch->end) ||
        cudaEventElapsedTime(&ms, watch->begin, watch->end))
        return INFINITY;
    return 1e3 * (double)ms;
}

static double time_shortest_us(const struct stopwatch *watch, const struct cuda_work *work,
                               int rounds)
{
    double shortest = INFINITY;
    for (int i = 0; i < rounds; i++)
        shortest = fmin(shortest, time_once_us(watch, work));
    return shortest;
}

static int replay(const void *graph, void *stream)
{
    return cuda_graph_launch(*(const cudaGraphExec_t *)graph, stream);
}

/* The time of the shortest replay per repetition of `work` in it. */
static double time_replays_us(const struct stopwatch *watch, const struct cuda_work *work,
                              double single_us)
{
    cudaGraphExec_t graph;
    const struct cuda_work whole = {replay, &graph};
    int steps = (int)fmax(1, fmin(STEPS, REPLAY_US / single_us));
    double us = INFINITY;
    if (cuda_graph_record(&graph, work, steps) == 0)
        us = time_shortest_us(watch, &whole, REPLAYS) / steps;
    cuda_graph_release(graph);
    return us;
}

static double time_us(const struct stopwatch *watch, const struct cuda_work *work, double least_us)
{
    /* A launch of its own costs some microseconds, which is no reason to drop it. */
    const double LAUNCHING_US = 50;
    time_once_us(watch, work); /* loads the kernel */
    double single_us = time_shortest_us(watch, work, LAUNCHES);
    if (isinf(single_us) || single_us > 1.5 * least_us + LAUNCHING_US) return INFINITY;
    return time_replays_us(watch, work, single_us);
}

static bool stopwatch_open(struct stopwatch *watch, void *stream)
{
    *watch = (struct stopwatch){.stream = stream};
    return !cudaEventCreate(&watch->begin) && !cudaEventCreate(&watch->end);
}

/* Of a time that was not taken the error is cleared, for the next launch. */
static double stopwatch_close(const struct stopwatch *watch, double us)
{
    if (watch->begin) cudaEventDestroy(watch->begin);
    if (watch->end) cudaEventDestroy(watch->end);
    if (isinf(us)) cudaGetLastError();
    return us;
}

double cuda_graph_single_us(const struct cuda_work *work, void *stream)
{
    struct stopwatch watch;
    cudaGraphExec_t graph = NULL;
    const struct cuda_work whole = {replay, &graph};
    double shortest = INFINITY;
    if (stopwatch_open(&watch, stream) && cuda_graph_record(&graph, work, 1) == 0)
        for (int i = 0; i < REPLAYS && replay(&graph, stream) == 0; i++)
            shortest = fmin(shortest, time_once_us(&watch, &whole));
    cuda_graph_release(graph);
    return stopwatch_close(&watch, shortest);
}

double cuda_graph_time_us(const struct cuda_work *work, void *stream, double least_us)
{
    struct stopwatch watch;
    double us = INFINITY;
    if (stopwatch_open(&watch, stream)) us = time_us(&watch, work, least_us);
    return stopwatch_close(&watch, us);
}
