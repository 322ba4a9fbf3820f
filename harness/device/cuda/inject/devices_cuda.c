/* devices_cuda.c - see devices.h. The driver, which is there, is looked up and not linked. */
#include "device/cuda/inject/devices.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

#include "base/library.h"

struct driver {
    __typeof__(cuDeviceGetCount) *count;
    __typeof__(cuDeviceGet) *get;
    CUresult (*name)(char *name, int length, CUdevice device);
    CUresult (*uuid)(CUuuid *uuid, CUdevice device);
    CUresult (*memory)(size_t *bytes, CUdevice device);
    __typeof__(cuDeviceGetAttribute) *attribute;
};
static const struct library_symbol driver_symbols[] = {
    {"cuDeviceGetCount", NULL, offsetof(struct driver, count), false},
    {"cuDeviceGet", NULL, offsetof(struct driver, get), false},
    {"cuDeviceGetName", NULL, offsetof(struct driver, name), false},
    {"cuDeviceGetUuid", "cuDeviceGetUuid_v2", offsetof(struct driver, uuid), false},
    {"cuDeviceTotalMem_v2", NULL, offsetof(struct driver, memory), false},
    {"cuDeviceGetAttribute", NULL, offsetof(struct driver, attribute), false},
};

static int attribute(const struct driver *driver, CUdevice device, CUdevice_attribute which)
{
    int value = -1;
    return driver->attribute(&value, which, device) == CUDA_SUCCESS ? value : -1;
}

static void uuid_text(const CUuuid *uuid, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "GPU");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        used += (size_t)snprintf(out + used, size - used, "%s%02x", dash ? "-" : "",
                                 (unsigned char)uuid->bytes[i]);
    }
}

static void device_describe(const struct driver *driver, int ordinal, struct trace_device *out)
{
    CUdevice device;
    CUuuid uuid;
    size_t bytes = 0;
    *out = (struct trace_device){ordinal, -1, -1, 0, -1, -1, -1, "", ""};
    if (driver->get(&device, ordinal) != CUDA_SUCCESS) return;
    if (driver->name(out->name, sizeof out->name, device) != CUDA_SUCCESS) out->name[0] = '\0';
    if (driver->uuid(&uuid, device) == CUDA_SUCCESS) uuid_text(&uuid, out->uuid, sizeof out->uuid);
    if (driver->memory(&bytes, device) == CUDA_SUCCESS) out->memory_bytes = (int64_t)bytes;
    int major = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (major >= 0 && minor >= 0) out->compute_capability = 10 * major + minor;
    out->multiprocessors = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    out->l1_bytes =
        attribute(driver, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    out->cache_bytes = attribute(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

void devices_each(void (*each)(const struct trace_device *device))
{
    struct driver driver;
    int count = 0;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library || library_bind(library, driver_symbols,
                                 sizeof driver_symbols / sizeof *driver_symbols, &driver))
        return;
    if (driver.count(&count) != CUDA_SUCCESS) return;
    for (int i = 0; i < count; i++) {
        struct trace_device device;
        device_describe(&driver, i, &device);
        each(&device);
    }
}
