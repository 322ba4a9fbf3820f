/*
 * runtime.cc - memory, streams, events and graphs of the emulated runtime (CUDA Runtime API,
 * "Memory Management", "Stream Management", "Event Management", "Graph Management").
 */
#include <cstdio>
#include <ctime>

#include "runtime.h"

namespace emu
{

cudaError_t last, broken;

cudaError_t fail(cudaError_t e)
{
    if (e != cudaSuccess) last = e;
    return e;
}

double now_ms()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> run)
{
    if (broken) return broken;
    if (stream && (uintptr_t)stream > 16 && stream->capture)
        stream->capture->nodes.push_back(std::move(run));
    else
        run();
    return broken;
}

} // namespace emu

using namespace emu;

extern "C" {

/* -------------------------------------------------------------------- memory -- */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    if (broken) return broken;
    *out = memory_used() + bytes > (size_t)8 << 30 ? nullptr : memory_alloc(bytes, false);
    return *out ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *at)
{
    return !at || memory_free(at) ? broken : fail(cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned)
{
    *out = memory_alloc(bytes, true);
    return *out ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *at)
{
    return cudaFree(at);
}

cudaError_t cudaMemGetInfo(size_t *rest, size_t *all)
{
    *all = (size_t)8 << 30;
    *rest = *all - memory_used();
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
    *pool = (cudaMemPool_t)1;
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t)
{
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t, cudaStream_t)
{
    return cudaMalloc(out, bytes);
}

cudaError_t cudaFreeAsync(void *at, cudaStream_t)
{
    return cudaFree(at);
}

/* The side that is the device's must be an allocation. */
static bool checked(const void *at, size_t bytes, bool device, bool write)
{
    if (!device || !bytes) return true;
    try {
        device_memory((uint64_t)at, (int64_t)bytes, write);
        return true;
    } catch (const Fault &f) {
        fprintf(stderr, "emulator: FAULT: copying or setting memory: %s\n", f.what());
        return false;
    }
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (!checked(to, bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
                 true) ||
        !checked(from, bytes, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
                 false))
        return fail(cudaErrorInvalidValue);
    return enqueue(stream, [=] { memmove(to, from, bytes); });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    for (size_t row = 0; row < height; row++) {
        cudaError_t e = cudaMemcpy((char *)to + row * to_pitch,
                                   (const char *)from + row * from_pitch, width, kind);
        if (e) return e;
    }
    return broken;
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    if (!checked(at, bytes, true, true)) return fail(cudaErrorInvalidValue);
    return enqueue(stream, [=] { memset(at, value, bytes); });
}

cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
    return cudaMemsetAsync(at, value, bytes, nullptr);
}

/* ---------------------------------------------------- streams, events, graphs -- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    *out = new CUstream_st{};
    return broken;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return broken;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return broken;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return broken;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *)
{
    return broken;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    stream->capture = new CUgraph_st;
    return broken;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    *out = stream->capture;
    stream->capture = nullptr;
    return broken;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long)
{
    *out = new CUgraphExec_st{graph->nodes};
    return broken;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    return broken;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    return enqueue(stream, [graph] {
        for (auto &node : graph->nodes)
            node();
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return broken;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return broken;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned)
{
    *out = new CUevent_st{0};
    return broken;
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return broken;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return enqueue(stream, [event] { event->at_ms = now_ms(); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return broken;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(to->at_ms - from->at_ms);
    return broken;
}

} /* extern "C" */
