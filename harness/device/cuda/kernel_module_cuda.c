/*
 * kernel_module_cuda.c - see device/kernel_module.h. By the driver's interface (NVIDIA, CUDA Driver
 * API, 13.0: Module Management, Execution Control), in the context that the runtime has opened. The
 * driver's library is loaded at run time: a program that is linked with it starts on no machine
 * without a driver.
 */
#include <cuda.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/error.h"
#include "base/library.h"
#include "device/kernel_module.h"

enum { LOG_BYTES = 4096, PORTABLE_CLUSTER = 8, SHARED_OF_ALL = 48 << 10 };

struct kernel_module {
    CUmodule module;
    CUfunction function;
};

/* By the names that the library has for the versions of today. */
/* clang-format off */
#define EACH_CALL(f) \
    f(cuGetErrorString) \
    f(cuCtxGetDevice) \
    f(cuDeviceGetAttribute) \
    f(cuModuleLoadDataEx) \
    f(cuModuleUnload) \
    f(cuModuleGetFunction) \
    f(cuFuncSetAttribute) \
    f(cuLaunchKernelEx) \
    f(cuMemAlloc_v2) \
    f(cuMemFree_v2) \
    f(cuMemcpyDtoH_v2) \
    f(cuStreamSynchronize)
/* clang-format on */
struct api {
    EACH_CALL(LIBRARY_DECLARED)
};
static const struct library_symbol symbols[] = {EACH_CALL(LIBRARY_NAME)};

static struct api driver;
static bool is_loaded;

static int open_driver(void)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    if (is_loaded) return 0;
    void *library = library_open(names, NULL);
    if (!library) return assay_error("the CUDA driver cannot be loaded: %s", assay_last_error());
    if (library_bind(library, symbols, sizeof symbols / sizeof *symbols, &driver))
        return assay_error("the CUDA driver is too old: %s", assay_last_error());
    is_loaded = true;
    return 0;
}

static int check(CUresult code, const char *what)
{
    const char *text = NULL;
    if (code == CUDA_SUCCESS) return 0;
    if (driver.cuGetErrorString(code, &text) != CUDA_SUCCESS || !text) text = "unknown error";
    return assay_error("%s: %s", what, text);
}

static int limit_sm;

void kernel_module_limit(int sm)
{
    limit_sm = sm;
}

int kernel_module_capability(int *sm, int *shown)
{
    CUdevice device;
    int major = 0, minor = 0;
    *sm = *shown = 0;
    if (open_driver() || check(driver.cuCtxGetDevice(&device), "the current device") ||
        check(driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                          device),
              "the compute capability") ||
        check(driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                          device),
              "the compute capability"))
        return -1;
    *sm = 10 * major + minor;
    *shown = limit_sm && limit_sm < *sm ? limit_sm : *sm;
    return 0;
}

/* --------------------------------------------------------------- loading -- */

/* The first line of what the driver's compiler says of PTX. */
static int load_image(struct kernel_module *module, const struct kernel_image *image)
{
    char log[LOG_BYTES] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUresult code = driver.cuModuleLoadDataEx(&module->module, image->bytes, 2, options, values);
    if (check(code, "the driver does not load it") == 0) return 0;
    log[strcspn(log, "\n")] = '\0';
    return log[0] ? assay_error("%s (%s)", assay_last_error(), log) : -1;
}

static int allow(const struct kernel_module *module, CUfunction_attribute attribute, unsigned value,
                 const char *what)
{
    return check(driver.cuFuncSetAttribute(module->function, attribute, (int)value), what);
}

/* What a launch may have only where it was asked for. */
static int prepare(const struct kernel_module *module, const struct kernel_launch *launch)
{
    const unsigned *cluster = launch->cluster;
    if (launch->shared_bytes > SHARED_OF_ALL &&
        allow(module, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch->shared_bytes,
              "its shared memory"))
        return -1;
    if (cluster[0] * cluster[1] * cluster[2] > PORTABLE_CLUSTER &&
        allow(module, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, "its clusters"))
        return -1;
    return 0;
}

int kernel_module_load(struct kernel_module **module, const struct kernel_image *image,
                       const char *kernel, const struct kernel_launch *launch)
{
    *module = NULL;
    if (open_driver()) return -1;
    struct kernel_module *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return assay_error("out of memory for a module");
    if (load_image(loaded, image) == 0 &&
        check(driver.cuModuleGetFunction(&loaded->function, loaded->module, kernel), kernel) == 0 &&
        prepare(loaded, launch) == 0) {
        *module = loaded;
        return 0;
    }
    kernel_module_unload(loaded);
    return -1;
}

/* What an earlier failure of the device leaves is reported by who synchronises. */
void kernel_module_unload(struct kernel_module *module)
{
    if (!module) return;
    if (module->module) driver.cuModuleUnload(module->module);
    free(module);
}

int kernel_module_launch(const struct kernel_module *module, const struct kernel_launch *launch,
                         void **parameters, void *stream)
{
    const unsigned *cluster = launch->cluster;
    CUlaunchAttribute attribute = {
        .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.clusterDim = {cluster[0], cluster[1], cluster[2]},
    };
    CUlaunchConfig config = {
        .gridDimX = launch->grid[0],
        .gridDimY = launch->grid[1],
        .gridDimZ = launch->grid[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->shared_bytes,
        .hStream = stream,
        .attrs = &attribute,
        .numAttrs = cluster[0] != 0,
    };
    return check(driver.cuLaunchKernelEx(&config, module->function, parameters, NULL), "launch");
}

/* ---------------------------------------------------------------- memory -- */

int kernel_memory_alloc(void **memory, size_t bytes)
{
    CUdeviceptr address = 0;
    *memory = NULL;
    if (open_driver() || check(driver.cuMemAlloc_v2(&address, bytes), "memory of the GPU"))
        return -1;
    *memory = (void *)(uintptr_t)address;
    return 0;
}

void kernel_memory_free(void *memory)
{
    if (memory) driver.cuMemFree_v2((CUdeviceptr)(uintptr_t)memory);
}

int kernel_memory_read(void *host, const void *memory, size_t bytes, void *stream)
{
    if (open_driver() || check(driver.cuStreamSynchronize(stream), "before a copy")) return -1;
    return check(driver.cuMemcpyDtoH_v2(host, (CUdeviceptr)(uintptr_t)memory, bytes),
                 "a copy to the host");
}
