/*
 * device_cuda.c - one NVIDIA GPU, through the C interface of the CUDA runtime.
 *
 * The clock is CUPTI's kernel timestamps (cupti.h); where they are not available, or with
 * --clock event, it is event pairs (sampling_cuda.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "device/cuda/cupti.h"
#include "device/cuda/device_cuda.h"
#include "device/cuda/device_kernels.h"
#include "device/device.h"
#include "device/kernel_module.h"
#include "device/nvml.h"

enum { MAX_HARD = 256 };

/* What cannot be measured, with the last error: `assay doctor` and a run's heading show it. */
static void lose(struct device *device, const char *what)
{
    text_add(device->lost, sizeof device->lost, "\n", "%s: %s", what, assay_last_error());
}

/* --------------------------------------------------------------- opening -- */

/* CUDA has one error for a driver that is too old and for a missing one, of version 0. */
static const char *no_gpu_text(cudaError_t error)
{
    int version = 0;
    if (error == cudaSuccess) return "none found";
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess &&
        version == 0)
        return "NVIDIA's driver is not loaded";
    return cudaGetErrorString(error);
}

static int choose(struct device *device, const struct device_options *options)
{
    const char *spec = options->spec;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice || count == 0)
        return assay_error("device '%s': no usable GPU: %s", spec, no_gpu_text(error));
    if (cuda_check(error, "asking for the GPUs") < 0) return -1;
    device->peers = count;
    if (device->spec.is_any && device_pick(options, count, &device->spec.index) < 0)
        return DEVICE_DENIED;
    if (device->spec.index >= count)
        return assay_error("there is no device '%s': this machine has %d GPU%s", spec, count,
                           count == 1 ? "" : "s");
    if (cuda_check(cudaSetDevice(device->spec.index), "choosing the GPU") < 0) return -1;
    return cuda_check(cudaGetDeviceProperties(&device->properties, device->spec.index),
                      "asking for the GPU's properties");
}

static void uuid_text(const struct cudaDeviceProp *properties, char out[RESULT_MAX_PROPERTY])
{
    const unsigned char *b = (const unsigned char *)properties->uuid.bytes;
    snprintf(out, RESULT_MAX_PROPERTY,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
}

static int make_resources(struct device *device)
{
    device->flush_bytes = 2 * (size_t)device->properties.l2CacheSize;
    if (cuda_check(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking),
                   "making a stream") < 0)
        return -1;
    for (int i = 0; i < MAX_BLOCK; i++)
        if (cuda_check(cudaEventCreate(&device->before[i]), "making an event") < 0 ||
            cuda_check(cudaEventCreate(&device->after[i]), "making an event") < 0)
            return -1;
    if (cuda_check(cudaMalloc((void **)&device->sum, sizeof *device->sum), "allocating") < 0 ||
        cuda_check(cudaMalloc((void **)&device->hard, MAX_HARD * sizeof(float)), "allocating") <
            0 ||
        cuda_check(cudaMalloc(&device->found, FOUND_BYTES), "allocating") < 0 ||
        cuda_check(cudaMalloc(&device->flush, device->flush_bytes), "allocating the flush buffer") <
            0)
        return -1;
    return cuda_check(cudaMemset(device->flush, 1, device->flush_bytes),
                      "setting the flush buffer");
}

static int compute_capability(const struct device *device)
{
    return 10 * device->properties.major + device->properties.minor;
}

/* The first launch: the driver chooses from the builds in this program. */
static int find_card(struct device *device)
{
    const struct cudaDeviceProp *properties = &device->properties;
    struct loaded_code code;
    _Static_assert(sizeof code == sizeof *device->sum, "it is returned through `sum`");
    if (kernel_code(NULL, (struct loaded_code *)device->sum) < 0) return -1;
    if (cuda_check(cudaMemcpy(&code, device->sum, sizeof code, cudaMemcpyDeviceToHost),
                   "asking for the loaded code") < 0)
        return -1;
    device->card = (struct assay_card){
        .sm = code.sm,
        .arch_specific = code.arch_specific,
        .multiprocessors = properties->multiProcessorCount,
        .shared_bytes = (int64_t)properties->sharedMemPerBlockOptin,
        .shared_sm_bytes = (int64_t)properties->sharedMemPerMultiprocessor,
        .l2_bytes = properties->l2CacheSize,
    };
    if (card_limit(&device->card, compute_capability(device), &device->spec) < 0) return -1;
    card_show(&device->card);
    kernel_module_limit(device->spec.sm);
    return 0;
}

static void cuda_close(struct device *device)
{
    for (int i = 0; i < MAX_BLOCK; i++) {
        if (device->before[i]) cudaEventDestroy(device->before[i]);
        if (device->after[i]) cudaEventDestroy(device->after[i]);
    }
    cudaFree(device->flush);
    cudaFree(device->sum);
    cudaFree(device->hard);
    cudaFree(device->found);
    if (device->stream) cudaStreamDestroy(device->stream);
    if (device->cupti) cupti_close();
    cuda_trace_close(device);
    if (device->nvml) nvml_close();
    free(device);
}

/* Fall back on event pairs if CUPTI opened but delivers no records. */
static int open_clock(struct device *device)
{
    bool no_records = false;
    if (cuda_measure_floors(device, &no_records) < 0) return -1;
    if (!no_records) return 0;
    assay_error("CUPTI delivers no kernel records");
    lose(device, "kernel timestamps (CUPTI)");
    cupti_close();
    device->cupti = device->recording = false;
    return 0;
}

static int cuda_open(const struct device_options *options, struct device **out)
{
    if (options->flush == FLUSH_LINES)
        return assay_error("a GPU's cache is flushed by read or write: it evicts no single lines");
    struct card_spec spec;
    if (card_spec_parse(options->spec, &spec) < 0) return -1;
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL) return assay_error("out of memory for the device");
    device->spec = spec;
    device->event_floor_ns = device->kernel_floor_ns = NAN;
    device->flush_by_write = options->flush == FLUSH_WRITE;

    if (options->trace && cuda_trace_open(device) < 0) lose(device, "traces of launches");
    /* CUPTI first: it must see the creation of the context and the loading of modules. */
    if (!options->use_events) device->cupti = cupti_open() == 0;
    device->recording = device->cupti;
    if (!options->use_events && !device->cupti) lose(device, "kernel timestamps (CUPTI)");
    int failed = choose(device, options);
    if (failed) goto fail;
    failed = -1;
    char uuid[RESULT_MAX_PROPERTY];
    uuid_text(&device->properties, uuid);
    device->nvml = nvml_open(uuid) == 0;
    if (!device->nvml) lose(device, "clocks, power, energy (NVML)");
    if (make_resources(device) < 0 || find_card(device) < 0) goto fail;
    if (!options->trace && open_clock(device) < 0) goto fail;
    if (options->try_counters && cuda_try_counters(device) < 0) lose(device, "hardware counters");
    *out = device;
    return 0;

fail:
    cuda_close(device);
    return failed;
}

static void version_text(int version, char out[RESULT_MAX_PROPERTY])
{
    snprintf(out, RESULT_MAX_PROPERTY, "%d.%d", version / 1000, version % 1000 / 10);
}

/* A limited card has a name of its own: its runs are never taken for those of the real one. */
static void describe_limits(const struct device *device, struct device_info *info)
{
    const struct cudaDeviceProp *properties = &device->properties;
    char limits[RESULT_MAX_PROPERTY / 2];
    card_limits_text(&device->spec, limits, sizeof limits);
    info->card = device->card;
    info->compute_capability = device->spec.sm ? device->spec.sm : compute_capability(device);
    snprintf(info->spec, sizeof info->spec, "cuda:%d%s%s", device->spec.index, *limits ? "," : "",
             limits);
    snprintf(info->name, sizeof info->name, "%.60s%s%s", properties->name,
             *limits ? " limited to " : "", limits);
}

static void cuda_describe(struct device *device, struct device_info *info)
{
    const struct cudaDeviceProp *properties = &device->properties;
    device_info_init(info);
    info->place = ASSAY_CUDA;
    info->peers = device->peers;
    describe_limits(device, info);
    uuid_text(properties, info->uuid);
    snprintf(info->lost, sizeof info->lost, "%s", device->lost);
    int version = 0;
    if (cudaDriverGetVersion(&version) == cudaSuccess) version_text(version, info->driver);
    if (cudaRuntimeGetVersion(&version) == cudaSuccess) version_text(version, info->runtime);
    info->multiprocessors = properties->multiProcessorCount;
    info->l1_bytes = (int64_t)properties->sharedMemPerMultiprocessor;
    info->cache_bytes = properties->l2CacheSize;
    info->memory_bytes = (int64_t)properties->totalGlobalMem;
    info->ecc = properties->ECCEnabled;
    info->clock = device->cupti ? CLOCK_CUPTI : CLOCK_EVENT;
    info->flush = device->flush_by_write ? FLUSH_WRITE : FLUSH_READ;
    info->event_floor_ns = device->event_floor_ns;
    info->kernel_floor_ns = device->kernel_floor_ns;
    if (device->nvml) nvml_describe(info);
}

/* ---------------------------------------------------------------- memory -- */

static void *cuda_alloc(struct device *device, size_t bytes)
{
    (void)device;
    void *memory = NULL;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaSuccess) return memory;
    cudaGetLastError(); /* clear it, or the next launch would report it */
    return assay_error_as(NULL, "allocating %zu bytes: %s", bytes, cudaGetErrorString(error));
}

static void cuda_release(struct device *device, void *memory)
{
    (void)device;
    cudaFree(memory);
}

static int64_t cuda_free_bytes(struct device *device)
{
    (void)device;
    size_t free_bytes = 0, all = 0;
    return cudaMemGetInfo(&free_bytes, &all) == cudaSuccess ? (int64_t)free_bytes : -1;
}

static int cuda_to_host(struct device *device, void *host, const void *memory, size_t bytes)
{
    return cuda_move(device, host, memory, bytes, cudaMemcpyDeviceToHost);
}

static int cuda_from_host(struct device *device, void *memory, const void *host, size_t bytes)
{
    return cuda_move(device, memory, host, bytes, cudaMemcpyHostToDevice);
}

static int cuda_set(struct device *device, void *memory, uint8_t byte, size_t bytes)
{
    if (cuda_check(cudaMemsetAsync(memory, byte, bytes, device->stream), "setting memory") < 0)
        return -1;
    return cuda_check(cudaStreamSynchronize(device->stream), "setting memory");
}

static int cuda_fill(struct device *device, void *memory, enum assay_type type, int64_t count,
                     const struct assay_fill *fill, uint64_t seed)
{
    if (fill->hard_count > MAX_HARD)
        return assay_error("a fill may have %d hard values, not %d", MAX_HARD, fill->hard_count);
    if (fill->hard_count > 0 && cuda_from_host(device, device->hard, fill->hard,
                                               (size_t)fill->hard_count * sizeof *fill->hard) < 0)
        return -1;
    if (kernel_fill(device->stream, memory, type, count, fill, device->hard, seed) < 0) return -1;
    return cuda_synchronize(device);
}

static int cuda_checksum(struct device *device, const void *memory, size_t bytes, uint64_t *sum)
{
    if (cuda_set(device, device->sum, 0, sizeof *device->sum) < 0) return -1;
    if (kernel_checksum(device->stream, memory, bytes, device->sum) < 0) return -1;
    return cuda_to_host(device, sum, device->sum, sizeof *sum);
}

/* --------------------------------------------------------- whole outputs -- */

static int cuda_poison(struct device *device, void *memory, size_t bytes, uint64_t seed)
{
    return kernel_poison(device->stream, memory, bytes, seed) < 0 ? -1 : cuda_synchronize(device);
}

static int cuda_unwritten(struct device *device, const void *memory, enum assay_type type,
                          int64_t count, uint64_t seed, struct unwritten *left)
{
    size_t size = assay_type_bytes(type);
    *left = (struct unwritten){0, 0, INT64_MAX};
    if (cuda_from_host(device, device->found, left, sizeof *left) < 0) return -1;
    if (kernel_unwritten(device->stream, memory, (size_t)count * size, (int)size, seed,
                         device->found) < 0)
        return -1;
    return cuda_move(device, left, device->found, sizeof *left, cudaMemcpyDeviceToHost);
}

static int cuda_copy(struct device *device, void *to, const void *from, size_t bytes)
{
    return cuda_move(device, to, from, bytes, cudaMemcpyDeviceToDevice);
}

_Static_assert(ASSAY_CHECK_PLACES * sizeof(struct difference) <= FOUND_BYTES, "all fit");

static int cuda_differ(struct device *device, const void *a, const void *b, enum assay_type type,
                       int64_t count, struct difference out[ASSAY_CHECK_PLACES])
{
    size_t bytes = ASSAY_CHECK_PLACES * sizeof *out;
    if (kernel_differ(device->stream, a, b, type, count, device->found) < 0) return -1;
    return cuda_move(device, out, device->found, bytes, cudaMemcpyDeviceToHost);
}

static int cuda_signed_sums(struct device *device, const void *matrix, enum assay_type type,
                            int64_t rows, int64_t columns, uint64_t seed, double *sums)
{
    double *there = NULL;
    size_t bytes = (size_t)rows * sizeof *sums;
    if (cuda_check(cudaMalloc((void **)&there, bytes), "allocating sums") < 0) {
        cudaGetLastError(); /* clear it, or the next launch would report it */
        return -1;
    }
    int status = kernel_signed_sums(device->stream, matrix, type, rows, columns, seed, there);
    if (status == 0) status = cuda_move(device, sums, there, bytes, cudaMemcpyDeviceToHost);
    cudaFree(there);
    return status;
}

/* ------------------------------------------------------------------ whole -- */

static void *cuda_stream(struct device *device)
{
    return device->stream;
}

static void cuda_state(struct device *device, struct device_state *state)
{
    (void)device;
    nvml_state(state);
    nvml_health(&state->health);
}

const struct device_ops device_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .describe = cuda_describe,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .free_bytes = cuda_free_bytes,
    .to_host = cuda_to_host,
    .from_host = cuda_from_host,
    .set = cuda_set,
    .poison = cuda_poison,
    .unwritten = cuda_unwritten,
    .copy = cuda_copy,
    .differ = cuda_differ,
    .signed_sums = cuda_signed_sums,
    .fill = cuda_fill,
    .checksum = cuda_checksum,
    .now_s = device_wall_s,
    .stream = cuda_stream,
    .synchronize = cuda_synchronize,
    .warm_up = cuda_warm_up,
    .sample = cuda_sample,
    .energy = cuda_energy,
    .state = cuda_state,
    .profile = cuda_profile,
    .trace = cuda_trace,
};
