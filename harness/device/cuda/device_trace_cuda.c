/*
 * device_trace_cuda.c - what a case has the GPU do (device_ops.trace): CUPTI's callbacks and
 * records, made into facts by launch_trace.h. Where an address lies the driver is asked.
 */
#include <cuda.h>

#include "base/library.h"
#include "device/cuda/cupti.h"
#include "device/cuda/device_cuda.h"
#include "device/cuda/host_words.h"
#include "device/cuda/launch_trace.h"
#include "device/profile.h"

struct trace_api {
    CUresult (*attributes)(unsigned count, CUpointer_attribute *attributes, void **data,
                           CUdeviceptr address);
    CUresult (*function_name)(const char **name, CUfunction function); /* from CUDA 12.3 on */
    CUresult (*kernel_name)(const char **name, CUkernel kernel);
};
static const struct library_symbol symbols[] = {
    {"cuPointerGetAttributes", NULL, offsetof(struct trace_api, attributes), false},
    {"cuFuncGetName", NULL, offsetof(struct trace_api, function_name), true},
    {"cuKernelGetName", NULL, offsetof(struct trace_api, kernel_name), true},
};
static struct trace_api driver;

/* Of an address that is in no allocation the driver says nothing, and the values stay 0. */
static bool find_range(uint64_t address, struct trace_range *range)
{
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_BUFFER_ID, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED};
    CUdeviceptr begin = 0;
    size_t bytes = 0;
    unsigned long long id = 0;
    CUmemorytype type = 0;
    unsigned managed = 0; /* a bool of C++: its first byte is written */
    void *data[] = {&begin, &bytes, &id, &type, &managed};
    if (driver.attributes(5, attributes, data, address) != CUDA_SUCCESS || bytes == 0) return false;
    *range = (struct trace_range){begin, bytes, id, type == CU_MEMORYTYPE_HOST || managed != 0};
    return true;
}

static bool reads_host; /* all of the host's memory: what lies there is not seen */

static uint64_t plain_word(uint64_t word, bool *is_read)
{
    bool is_address;
    uint64_t plain = host_words_plain(word, &is_address);
    *is_read = is_address && reads_host;
    return plain;
}

static const char *find_name(const void *handle, bool is_kernel)
{
    const char *name = NULL;
    if (is_kernel ? !driver.kernel_name : !driver.function_name) return NULL;
    CUresult result = is_kernel ? driver.kernel_name(&name, (CUkernel)handle)
                                : driver.function_name(&name, (CUfunction)handle);
    return result == CUDA_SUCCESS ? name : NULL;
}

static void see_module(void *trace, const void *cubin, size_t size)
{
    launch_trace_module(trace, cubin, size);
}

static void see_call(void *trace, const char *name, bool has_ended, const void *parameters,
                     const char *kernel)
{
    launch_trace_call(trace, name, has_ended, parameters, kernel);
}

int cuda_trace_open(struct device *device)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    void *library = library_open(names, NULL);
    if (!library || library_bind(library, symbols, sizeof symbols / sizeof *symbols, &driver))
        return -1;
    reads_host = device->properties.pageableMemoryAccess != 0;
    device->trace = launch_trace_new(find_range, plain_word, find_name);
    if (!device->trace) return -1;
    cupti_watch(
        &(struct cupti_watcher){.module = see_module, .call = see_call, .context = device->trace});
    return 0;
}

void cuda_trace_close(struct device *device)
{
    launch_trace_free(device->trace);
    device->trace = NULL;
}

/* Kernels that ran since the last step; -1: some records were lost. */
static int count_kernels(int *kernels)
{
    const struct cupti_record *records;
    int count, lost;
    *kernels = 0;
    if (cupti_collect(&records, &count, &lost) < 0) return -1;
    *kernels = lost > 0 ? -1 : profile_count_kernels(records, count);
    return 0;
}

int cuda_trace(struct device *device, enum trace_step step, const struct assay_variant *variant,
               struct fingerprint *print)
{
    int kernels = 0;
    (void)variant;
    if (!device->trace || !device->cupti) {
        fingerprint_doubt(print, "the driver's calls cannot be followed: CUPTI is not there");
        return 0;
    }
    struct trace_acts *acts = launch_trace_acts(device->trace);
    if (step == TRACE_SETUP) {
        if (cuda_record(device, true) < 0) return -1;
    } else if (count_kernels(&kernels) < 0) {
        return -1;
    }
    if (kernels < 0) trace_acts_doubt(acts, "CUPTI lost records of its kernels");
    trace_acts_step(acts, step, kernels, print);
    return step == TRACE_END ? cuda_record(device, false) : 0;
}
