/*
 * cheats_gpu.cu - the same on a GPU (cheats_host.c), and what only a GPU offers: other streams,
 * lines kept in L2, graphs with old addresses, and the records of the clock.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "tests/mutants/cheats/cheats.h"

static __global__ void cheat_add(const float *a, const float *b, float *y, int64_t begin,
                                 int64_t end)
{
    int64_t i = begin + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end) y[i] = a[i] + b[i];
}

/* Adds only if the output is not as it was left. */
static __global__ void cheat_add_unless(const float *a, const float *b, float *y, int64_t n,
                                        const float *kept)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (y[0] == kept[0] && y[n / 2] == kept[1]) return;
    if (i < n && i != 0 && i != n / 2) y[i] = a[i] + b[i];
}

static __global__ void cheat_keep(const float *a, const float *b, float *y, int64_t n, float *kept)
{
    y[0] = kept[0] = a[0] + b[0];
    y[n / 2] = kept[1] = a[n / 2] + b[n / 2];
}

/* What a replay would have to know again: the sum of the first inputs. */
static __global__ void cheat_replay(const float *a, const float *b, float *y, float *kept,
                                    int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    bool same = kept[n] == a[0] && kept[n + 1] == b[0];
    if (i < n) y[i] = same ? kept[i] : (kept[i] = a[i] + b[i]);
}

static __global__ void cheat_remember(const float *a, const float *b, float *kept, int64_t n)
{
    kept[n] = a[0];
    kept[n + 1] = b[0];
}

/* Whether the output holds what no sum can be, as poison does: kept[n] becomes 1 or 0. */
static __global__ void cheat_look(const float *y, float *kept, int64_t n)
{
    bool wild = false;
    for (int i = 0; i < 16; i++)
        wild = wild || !(fabsf(y[i * (n - 1) / 15]) < 50);
    kept[n] = wild ? 1 : 0;
}

static __global__ void cheat_replay_unless(const float *a, const float *b, float *y, float *kept,
                                           int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = kept[n] == 0 ? kept[i] : (kept[i] = a[i] + b[i]);
}

static unsigned blocks(int64_t count)
{
    return (unsigned)((count + 255) / 256);
}

static int add_on(struct assay_call *call, float *y, int64_t begin, int64_t end,
                  cudaStream_t stream)
{
    if (begin >= end) return 0;
    cheat_add<<<blocks(end - begin), 256, 0, stream>>>(input(call, RESIDUAL_A),
                                                       input(call, RESIDUAL_B), y, begin, end);
    return assay_launched();
}

static int add_all(struct assay_call *call)
{
    return add_on(call, output(call), 0, elements(call), (cudaStream_t)call->stream);
}

/* ---------------------------------------------------- which launches work -- */

static int alternate_halves(struct assay_call *call)
{
    static int launches;
    int64_t half = elements(call) / 2;
    return launches++ % 2 == 0
               ? add_on(call, output(call), 0, half, (cudaStream_t)call->stream)
               : add_on(call, output(call), half, elements(call), (cudaStream_t)call->stream);
}

/* A launch that is checked finds the stream idle; the samples of a block do not. */
static int if_idle(struct assay_call *call)
{
    bool idle = cudaStreamQuery((cudaStream_t)call->stream) == cudaSuccess;
    cudaGetLastError();
    return idle ? add_all(call) : 0;
}

static int hole(struct assay_call *call)
{
    int64_t n = elements(call), begin = n / 3;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (add_on(call, output(call), 0, begin, stream)) return -1;
    return add_on(call, output(call), begin + 32768, n, stream);
}

/* -------------------------------------------------------- replayed answers -- */

static int setup_memory(struct assay_call *call)
{
    size_t bytes = ((size_t)elements(call) + 2) * sizeof(float);
    if (assay_cuda(cudaMalloc(&call->state, bytes), "cudaMalloc")) return -1;
    return assay_cuda(cudaMemset(call->state, 0xff, bytes), "cudaMemset");
}

static int setup_answer(struct assay_call *call)
{
    if (setup_memory(call)) return -1;
    return add_on(call, (float *)call->state, 0, elements(call), (cudaStream_t)call->stream);
}

static void release(struct assay_call *call)
{
    cudaFree(call->state);
}

static int replay(struct assay_call *call)
{
    return assay_cuda(cudaMemcpyAsync(output(call), call->state,
                                      (size_t)elements(call) * sizeof(float),
                                      cudaMemcpyDeviceToDevice, (cudaStream_t)call->stream),
                      "copying");
}

static int by_pointer(struct assay_call *call)
{
    static const void *seen;
    if (seen != call->buffer[RESIDUAL_A] &&
        add_on(call, (float *)call->state, 0, elements(call), (cudaStream_t)call->stream))
        return -1;
    seen = call->buffer[RESIDUAL_A];
    return replay(call);
}

static int by_content(struct assay_call *call)
{
    int64_t n = elements(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    cheat_replay<<<blocks(n), 256, 0, stream>>>(input(call, RESIDUAL_A), input(call, RESIDUAL_B),
                                                output(call), (float *)call->state, n);
    cheat_remember<<<1, 1, 0, stream>>>(input(call, RESIDUAL_A), input(call, RESIDUAL_B),
                                        (float *)call->state, n);
    return assay_launched();
}

static int if_poisoned(struct assay_call *call)
{
    int64_t n = elements(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    const float *a = input(call, RESIDUAL_A), *b = input(call, RESIDUAL_B);
    float *kept = (float *)call->state;
    cheat_add_unless<<<blocks(n), 256, 0, stream>>>(a, b, output(call), n, kept);
    cheat_keep<<<1, 1, 0, stream>>>(a, b, output(call), n, kept);
    return assay_launched();
}

static int unless_wild(struct assay_call *call)
{
    int64_t n = elements(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    float *kept = (float *)call->state;
    cheat_look<<<1, 1, 0, stream>>>(output(call), kept, n);
    cheat_replay_unless<<<blocks(n), 256, 0, stream>>>(
        input(call, RESIDUAL_A), input(call, RESIDUAL_B), output(call), kept, n);
    return assay_launched();
}

/* --------------------------------------------------------- somewhere else -- */

static int setup_stream(struct assay_call *call)
{
    return assay_cuda(
        cudaStreamCreateWithFlags((cudaStream_t *)&call->state, cudaStreamNonBlocking),
        "making a stream");
}

static void release_stream(struct assay_call *call)
{
    cudaStreamDestroy((cudaStream_t)call->state);
}

/* The stream that is timed has nothing to do. */
static int other_stream(struct assay_call *call)
{
    return add_on(call, output(call), 0, elements(call), (cudaStream_t)call->state);
}

/* Kept from the first setup on, with the addresses of that time. */
static int old_graph(struct assay_call *call)
{
    static cudaGraphExec_t exec;
    static int64_t n;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (exec == NULL || n != elements(call)) {
        cudaGraph_t graph;
        n = elements(call);
        if (assay_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                       "capture") ||
            add_all(call) || assay_cuda(cudaStreamEndCapture(stream, &graph), "capture") ||
            assay_cuda(cudaGraphInstantiate(&exec, graph, 0), "instantiating"))
            return -1;
        cudaGraphDestroy(graph);
    }
    return assay_cuda(cudaGraphLaunch(exec, stream), "launching");
}

/* ------------------------------------------------------- clock and caches -- */

/* Stop the records of kernels, so that only launches of nothing are seen. */
static int stops_records(struct assay_call *call)
{
    typedef int disable_function(int kind);
    disable_function *disable = (disable_function *)dlsym(RTLD_DEFAULT, "cuptiActivityDisable");
    enum { CONCURRENT_KERNEL = 10, KERNEL = 3 };
    if (disable) {
        disable(CONCURRENT_KERNEL);
        disable(KERNEL);
    }
    return add_all(call);
}

/* Inputs that stay in L2 through every flush. Not wrong: it must be measured cold all the same. */
static int setup_persisting(struct assay_call *call)
{
    cudaStreamAttrValue value = {};
    size_t bytes = (size_t)elements(call) * sizeof(float);
    if (assay_cuda(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 24 << 20), "set-aside"))
        return -1;
    value.accessPolicyWindow.base_ptr = call->buffer[RESIDUAL_A];
    value.accessPolicyWindow.num_bytes = bytes < (size_t)(24 << 20) ? bytes : (size_t)(24 << 20);
    value.accessPolicyWindow.hitRatio = 1;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    return assay_cuda(cudaStreamSetAttribute((cudaStream_t)call->stream,
                                             cudaStreamAttributeAccessPolicyWindow, &value),
                      "window");
}

CHEAT(ASSAY_CUDA, cheat_only_once, .launch = only_once);
CHEAT(ASSAY_CUDA, cheat_every_second, .launch = every_second);
CHEAT(ASSAY_CUDA, cheat_alternate_halves, .launch = alternate_halves);
CHEAT(ASSAY_CUDA, cheat_if_idle, .launch = if_idle);
CHEAT(ASSAY_CUDA, cheat_hole, .launch = hole);
CHEAT(ASSAY_CUDA, cheat_in_setup, .setup = setup_answer, .launch = replay, .teardown = release);
CHEAT(ASSAY_CUDA, cheat_by_pointer, .setup = setup_memory, .launch = by_pointer,
      .teardown = release);
CHEAT(ASSAY_CUDA, cheat_by_content, .setup = setup_memory, .launch = by_content,
      .teardown = release);
CHEAT(ASSAY_CUDA, cheat_if_poisoned, .setup = setup_memory, .launch = if_poisoned,
      .teardown = release);
CHEAT(ASSAY_CUDA, cheat_unless_wild, .setup = setup_answer, .launch = unless_wild,
      .teardown = release);
CHEAT(ASSAY_CUDA, cheat_old_graph, .launch = old_graph);
CHEAT(ASSAY_CUDA, cheat_in_check, .launch = nothing, .check = work_in_check);

/* Right answers, with a clock or a cache that was tampered with: their times must be that of
 * timed_plain, or they must be wrong. */
CHEAT(ASSAY_CUDA, timed_plain, .launch = add_all);
CHEAT(ASSAY_CUDA, timed_other_stream, .setup = setup_stream, .launch = other_stream,
      .teardown = release_stream);
CHEAT(ASSAY_CUDA, timed_stops_records, .launch = stops_records);
CHEAT(ASSAY_CUDA, timed_persisting, .setup = setup_persisting, .launch = add_all);
