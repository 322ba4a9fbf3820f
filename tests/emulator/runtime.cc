/*
 * runtime.cc - the part of the CUDA runtime that the project uses, in place of libcudart_static.a:
 * one card of compute capability 9.0 whose memory is this process's, whose streams do everything at
 * once and in order, and whose kernels are run by run.cc. What a kernel may not do is told on
 * stderr, and leaves the card in the error that CUDA would.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "emulator.h"
#include "tensor_map.h"

struct CUevent_st {
    double at_ms;
};
struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
};
struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};
struct CUstream_st {
    CUgraph_st *capture;
};

namespace emu
{

int occupancy(const Kernel &k, int threads, int64_t dynamic_bytes);

static cudaError_t last, broken; /* broken: stays */

static cudaError_t fail(cudaError_t e)
{
    if (e != cudaSuccess) last = e;
    return e;
}

struct Function {
    Module *module;
    string name;
};

static std::map<const void *, Function> &functions()
{
    static std::map<const void *, Function> all;
    return all;
}

static Kernel *kernel_of(const void *function)
{
    auto found = functions().find(function);
    if (found == functions().end()) fault("a kernel that was not registered");
    return found->second.module->kernel(found->second.name);
}

static bool tracing()
{
    static const char *text = getenv("EMULATOR_TRACE");
    return text != nullptr;
}

static double now_ms()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Now, or later if the stream is being captured. */
static cudaError_t enqueue(cudaStream_t stream, std::function<void()> run)
{
    if (broken) return broken;
    if (stream && (uintptr_t)stream > 16 && stream->capture)
        stream->capture->nodes.push_back(std::move(run));
    else
        run();
    return broken;
}

/* The kernel's PTX, from the fat binary that nvcc wrote, which has to be uncompressed. */
static string ptx_of(const void *fatbin)
{
    struct Wrapper {
        int magic, version;
        const uint8_t *data;
    };
    struct Header {
        uint32_t magic;
        uint16_t version, bytes;
        uint64_t size;
    };
    struct Entry { /* the head of one of its parts */
        uint16_t kind, version;
        uint32_t bytes;
        uint64_t size;
        uint32_t compressed, unused;
    };
    const uint8_t *data = ((const Wrapper *)fatbin)->data;
    Header h;
    memcpy(&h, data, sizeof h);
    string text;
    for (const uint8_t *at = data + h.bytes; at < data + h.bytes + h.size;) {
        Entry e;
        memcpy(&e, at, sizeof e);
        if (e.kind == 1) text.assign((const char *)at + e.bytes, e.size);
        at += e.bytes + e.size;
    }
    return text;
}

/* The harness's own kernels, whose blocks stride over the whole: a few do the same as thousands. */
static bool strides(const string &name)
{
    for (const char *known : {"assay_checksum", "assay_poison", "assay_unwritten",
                              "assay_fill_elements", "assay_flush"})
        if (name.find(known) != string::npos) return true;
    return false;
}

static cudaError_t run(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                       cudaStream_t stream, const int cluster[3])
{
    if (broken) return broken;
    try {
        Kernel *k = kernel_of(function);
        Grid g{};
        g.kernel = k;
        g.params.resize((size_t)k->param_bytes);
        for (size_t p = 0; p < k->params.size(); p++)
            memcpy(g.params.data() + k->params[p].offset, args[p], (size_t)k->params[p].bytes);
        const unsigned dim[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
        int64_t total = 1;
        for (int a = 0; a < 3; a++) {
            g.dim[a] = (int)dim[a];
            g.block[a] = (int)threads[a];
            g.cluster[a] = cluster[a] ? cluster[a] : k->cluster[a];
            total *= threads[a];
            if (!dim[a] || !threads[a]) return fail(cudaErrorInvalidConfiguration);
        }
        g.dynamic_bytes = (int64_t)shared;
        if (strides(k->name)) g.dim[0] = std::min(g.dim[0], 2 * multiprocessors());
        if (total > 1024 || total > k->max_threads)
            return fail(total > 1024 ? cudaErrorInvalidConfiguration
                                     : cudaErrorLaunchOutOfResources);
        if ((int64_t)shared > k->max_dynamic) return fail(cudaErrorInvalidValue);
        if (k->dynamic_offset - RESERVED + (int64_t)shared > 227 << 10)
            return fail(cudaErrorInvalidValue);
        return enqueue(stream, [g]() mutable {
            if (broken) return;
            double start = now_ms();
            if (tracing())
                fprintf(stderr,
                        "emulator: %s <<<(%d, %d, %d), (%d, %d, %d), %lld>>> cluster (%d, %d, %d)",
                        g.kernel->name.c_str(), g.dim[0], g.dim[1], g.dim[2], g.block[0],
                        g.block[1], g.block[2], (long long)g.dynamic_bytes, g.cluster[0],
                        g.cluster[1], g.cluster[2]);
            try {
                launch(g);
            } catch (const Fault &f) {
                fprintf(stderr, "emulator: FAULT: %s\n", f.what());
                broken = fail(cudaErrorIllegalAddress);
            }
            if (tracing()) fprintf(stderr, " %.1f ms\n", now_ms() - start);
        });
    } catch (const Fault &f) {
        fprintf(stderr, "emulator: FAULT: %s\n", f.what());
        return broken = fail(cudaErrorIllegalInstruction);
    }
}

} // namespace emu

using namespace emu;

extern "C" {

/* ------------------------------------------------------ what nvcc's code calls -- */

static struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} configuration;

void **__cudaRegisterFatBinary(void *fatbin)
{
    Module *m = new Module;
    m->text = ptx_of(fatbin);
    return (void **)m;
}

void __cudaRegisterFatBinaryEnd(void **)
{
}
void __cudaUnregisterFatBinary(void **)
{
}

void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, void *,
                            void *, void *, void *, int *)
{
    functions()[host] = {(Module *)handle, name};
}

void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int)
{
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st *stream)
{
    configuration = {grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = configuration.grid, *block = configuration.block, *shared = configuration.shared;
    *(cudaStream_t *)stream = configuration.stream;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function)
{
    *out = (cudaKernel_t)function;
    return cudaSuccess;
}

static const int no_cluster[3] = {0, 0, 0};

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    return run((const void *)kernel, grid, block, args, shared, stream, no_cluster);
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream)
{
    return run(f, grid, block, args, shared, stream, no_cluster);
}

static void cluster_of(const cudaLaunchConfig_t *c, int out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (unsigned k = 0; k < c->numAttrs; k++)
        if (c->attrs[k].id == cudaLaunchAttributeClusterDimension) {
            out[0] = (int)c->attrs[k].val.clusterDim.x;
            out[1] = (int)c->attrs[k].val.clusterDim.y;
            out[2] = (int)c->attrs[k].val.clusterDim.z;
        }
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args)
{
    int cluster[3];
    cluster_of(c, cluster);
    return run(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, cluster);
}

/* ------------------------------------------------------------------- kernels -- */

cudaError_t cudaFuncSetAttribute(const void *f, cudaFuncAttribute attribute, int value)
{
    try {
        Kernel *k = kernel_of(f);
        if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
            if (value < 0 || k->dynamic_offset - RESERVED + value > 227 << 10)
                return fail(cudaErrorInvalidValue);
            k->max_dynamic = value;
        }
        return cudaSuccess;
    } catch (const Fault &e) {
        fprintf(stderr, "emulator: FAULT: %s\n", e.what());
        return broken = fail(cudaErrorIllegalInstruction);
    }
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *f, int threads,
                                                          size_t shared)
{
    try {
        *count = occupancy(*kernel_of(f), threads, (int64_t)shared);
        return cudaSuccess;
    } catch (const Fault &e) {
        fprintf(stderr, "emulator: FAULT: %s\n", e.what());
        return broken = fail(cudaErrorIllegalInstruction);
    }
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *f,
                                                                   int threads, size_t shared,
                                                                   unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, f, threads, shared);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *f, const cudaLaunchConfig_t *c)
{
    int cluster[3], blocks;
    cluster_of(c, cluster);
    int size = cluster[0] ? cluster[0] * cluster[1] * cluster[2] : 1;
    cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, f, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z), c->dynamicSmemBytes);
    *count = blocks * multiprocessors() / size;
    return e;
}

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

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t)
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

cudaError_t cudaEventQuery(cudaEvent_t)
{
    return broken;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(to->at_ms - from->at_ms);
    return broken;
}

/* ------------------------------------------------------------------ the card -- */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device ? fail(cudaErrorInvalidDevice) : broken;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return broken;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "emulated sm_90");
    p->major = 9;
    p->multiProcessorCount = multiprocessors();
    p->totalGlobalMem = (size_t)8 << 30;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->reservedSharedMemPerBlock = 1 << 10;
    p->l2CacheSize = 1 << 20;
    p->warpSize = LANES;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = 2048;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrL2CacheSize:
        *value = 1 << 20;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = multiprocessors();
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = 227 << 10;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = 228 << 10;
        break;
    default:
        *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit)
{
    *value = 0;
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return broken;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = last;
    last = broken;
    return e;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorLaunchOutOfResources:
        return "too many resources requested for launch";
    case cudaErrorIllegalAddress:
        return "the emulator found a fault in a kernel (see its message)";
    case cudaErrorIllegalInstruction:
        return "the emulator cannot run a kernel (see its message)";
    default:
        return "an error";
    }
}

const char *cudaGetErrorName(cudaError_t)
{
    return "cudaError";
}

/* ---------------------------------------------------------------- tensor maps -- */

/* With the driver's rules for tiled maps. */
static CUresult encode_tiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                             void *base, const cuuint64_t *size, const cuuint64_t *stride,
                             const cuuint32_t *box, const cuuint32_t *step,
                             CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill outside)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    static const int widths[] = {0, 32, 64, 128};
    auto refuse = [](const char *why) {
        fprintf(stderr, "emulator: cuTensorMapEncodeTiled: %s\n", why);
        return CUDA_ERROR_INVALID_VALUE;
    };
    if (rank < 1 || rank > 5 || (unsigned)type > 12 ||
        interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || (unsigned)swizzle > 3)
        return refuse("a kind that is not handled");
    TensorMap t{};
    t.magic = TENSOR_MAP;
    t.base = (uint64_t)base;
    t.rank = (uint8_t)rank;
    t.swizzle = (uint8_t)widths[swizzle];
    t.nan_outside = outside != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    if (t.nan_outside) return refuse("NaN outside is not handled");
    if (t.base % 16) return refuse("the address is no multiple of 16");
    for (cuuint32_t d = 0; d < rank; d++) {
        t.size[d] = size[d];
        t.stride[d] = d ? stride[d - 1] : (uint64_t)bytes[type];
        t.box[d] = (uint16_t)box[d];
        if (!size[d] || size[d] > 1ull << 32) return refuse("a size of 0 or over 2^32");
        if (d && (t.stride[d] % 16 || t.stride[d] >= 1ull << 40))
            return refuse("a stride that is no multiple of 16, or over 2^40");
        if (!box[d] || box[d] > 256) return refuse("a box of 0 or over 256");
        if (step[d] != 1) return refuse("an element stride other than 1 is not handled");
    }
    int64_t inner = (int64_t)box[0] * bytes[type];
    if (inner % 16) return refuse("a box whose rows are no multiple of 16 bytes");
    if (t.swizzle && inner > t.swizzle)
        return refuse("a box whose rows are wider than the swizzle");
    memset(out, 0, sizeof *out);
    memcpy(out, &t, sizeof t);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
    bool known = string(name) == "cuTensorMapEncodeTiled";
    *out = known ? (void *)encode_tiled : nullptr;
    if (found) *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *found)
{
    return cudaGetDriverEntryPointByVersion(name, out, 0, flags, found);
}

} /* extern "C" */
