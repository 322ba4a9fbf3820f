/*
 * launch.cc - kernels as the runtime knows them: registered by what nvcc writes into each object,
 * with their PTX, and launched. What a kernel may not do is told on stderr, and leaves the card in
 * the error that CUDA would.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime.h"

namespace emu
{

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

} /* extern "C" */
