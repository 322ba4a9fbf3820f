/*
 * device_cuda.c - one NVIDIA GPU, through the CUDA runtime's C interface.
 *
 * The clock is CUPTI's kernel timestamps (cupti.h); where those are not to be
 * had, or with --clock event, it is the event pair. Both are taken on every
 * sample. How a sample is made up:
 *
 *     [flush L2]  [hold]  event  LAUNCH  event
 *
 * all enqueued while `hold` keeps the queue waiting, so that the launch never
 * waits for the host.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "clock.h"
#include "cupti.h"
#include "device_kernels.h"
#include "device_kinds.h"
#include "fill.h"
#include "nvml.h"
#include "nvtx.h"
#include "stats.h"

enum {
    MAX_BLOCK = 64,      /* samples; the events made for them */
    FLOOR_SAMPLES = 50,  /* of the empty kernel, when a device opens */
    WARM_SLICE_MS = 10,  /* between looks at the SM clock */
    WARM_LIMIT_MS = 400, /* warming up ends here, steady or not */
};

struct device {
    int index;
    bool cupti, nvml;
    bool flush_by_write;
    struct cudaDeviceProp properties;
    cudaStream_t stream;
    cudaEvent_t before[MAX_BLOCK], after[MAX_BLOCK];
    void *flush;
    size_t flush_bytes;
    uint64_t *sum; /* for checksums; on the device */
    float *hard;   /* for fills; on the device */
    double event_floor_ns, kernel_floor_ns;
    double worked_s; /* when the GPU last did long work */
    char lost[4 * ASSAY_MAX_REASON];
};

enum { MAX_HARD = 256 };

static int check(cudaError_t error, const char *what)
{
    return error == cudaSuccess ? 0 : assay_error("%s: %s", what, cudaGetErrorString(error));
}

/* A thing that cannot be measured, and why, for the doctor and the run's head. */
static void lose(struct device *device, const char *what)
{
    size_t used = strlen(device->lost);
    snprintf(device->lost + used, sizeof device->lost - used, "%s%s: %s", used ? "\n" : "", what,
             assay_last_error());
}

/* --------------------------------------------------------------- opening -- */

static int parse_index(const char *spec, int *index)
{
    *index = 0;
    const char *colon = strchr(spec, ':');
    if (colon == NULL) return 0;
    char *end;
    long value = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end || value < 0 || value > 1024)
        return assay_error("there is no device '%s' (cuda:N, N from 0)", spec);
    *index = (int)value;
    return 0;
}

static int choose(struct device *device, const char *spec)
{
    int count = 0;
    if (parse_index(spec, &device->index) < 0) return -1;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice || count == 0)
        return assay_error("no usable GPU: %s", error ? cudaGetErrorString(error) : "none found");
    if (check(error, "asking for the GPUs") < 0) return -1;
    if (device->index >= count)
        return assay_error("there is no device '%s': this machine has %d GPU%s", spec, count,
                           count == 1 ? "" : "s");
    if (check(cudaSetDevice(device->index), "choosing the GPU") < 0) return -1;
    return check(cudaGetDeviceProperties(&device->properties, device->index),
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
    if (check(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking),
              "making a stream") < 0)
        return -1;
    for (int i = 0; i < MAX_BLOCK; i++) {
        if (check(cudaEventCreate(&device->before[i]), "making an event") < 0) return -1;
        if (check(cudaEventCreate(&device->after[i]), "making an event") < 0) return -1;
    }
    if (check(cudaMalloc((void **)&device->sum, sizeof *device->sum), "allocating") < 0) return -1;
    if (check(cudaMalloc((void **)&device->hard, MAX_HARD * sizeof(float)), "allocating") < 0)
        return -1;
    if (check(cudaMalloc(&device->flush, device->flush_bytes), "allocating the flush buffer") < 0)
        return -1;
    return check(cudaMemset(device->flush, 1, device->flush_bytes), "setting the flush buffer");
}

static int measure_floors(struct device *device);

static void cuda_close(struct device *device)
{
    for (int i = 0; i < MAX_BLOCK; i++) {
        if (device->before[i]) cudaEventDestroy(device->before[i]);
        if (device->after[i]) cudaEventDestroy(device->after[i]);
    }
    cudaFree(device->flush);
    cudaFree(device->sum);
    cudaFree(device->hard);
    if (device->stream) cudaStreamDestroy(device->stream);
    if (device->cupti) cupti_close();
    if (device->nvml) nvml_close();
    free(device);
}

static int cuda_open(const struct device_options *options, struct device **out)
{
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL) return assay_error("out of memory for the device");
    device->event_floor_ns = device->kernel_floor_ns = NAN;
    device->flush_by_write = options->flush_by_write;

    /* CUPTI first: it must see the context come and the modules load. */
    if (!options->use_events) device->cupti = cupti_open() == 0;
    if (!options->use_events && !device->cupti) lose(device, "kernel timestamps (CUPTI)");
    if (choose(device, options->spec) < 0) goto fail;
    char uuid[RESULT_MAX_PROPERTY];
    uuid_text(&device->properties, uuid);
    device->nvml = nvml_open(uuid) == 0;
    if (!device->nvml) lose(device, "clocks, power, energy (NVML)");
    if (make_resources(device) < 0) goto fail;
    if (measure_floors(device) < 0) goto fail;
    *out = device;
    return 0;

fail:
    cuda_close(device);
    return -1;
}

static void version_text(int version, char out[RESULT_MAX_PROPERTY])
{
    snprintf(out, RESULT_MAX_PROPERTY, "%d.%d", version / 1000, version % 1000 / 10);
}

static void cuda_describe(struct device *device, struct device_info *info)
{
    const struct cudaDeviceProp *properties = &device->properties;
    memset(info, 0, sizeof *info);
    info->place = ASSAY_CUDA;
    snprintf(info->spec, sizeof info->spec, "cuda:%d", device->index);
    snprintf(info->name, sizeof info->name, "%s", properties->name);
    uuid_text(properties, info->uuid);
    snprintf(info->lost, sizeof info->lost, "%s", device->lost);
    int version = 0;
    if (cudaDriverGetVersion(&version) == cudaSuccess) version_text(version, info->driver);
    if (cudaRuntimeGetVersion(&version) == cudaSuccess) version_text(version, info->runtime);
    info->compute_capability = 10 * properties->major + properties->minor;
    info->multiprocessors = properties->multiProcessorCount;
    info->l1_bytes = (int64_t)properties->sharedMemPerMultiprocessor;
    info->cache_bytes = properties->l2CacheSize;
    info->memory_bytes = (int64_t)properties->totalGlobalMem;
    info->sm_mhz_max = info->memory_mhz_max = info->power_limit_w = NAN;
    info->ecc = properties->ECCEnabled;
    info->mig = -1;
    info->clock = device->cupti ? CLOCK_CUPTI : CLOCK_EVENT;
    info->event_floor_ns = device->event_floor_ns;
    info->kernel_floor_ns = device->kernel_floor_ns;
    info->clock_step_ns = NAN;
    if (device->nvml) nvml_describe(info);
}

/* ---------------------------------------------------------------- memory -- */

static void *cuda_alloc(struct device *device, size_t bytes)
{
    (void)device;
    void *memory = NULL;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaSuccess) return memory;
    cudaGetLastError(); /* being out of memory is not an error of the next launch */
    assay_error("allocating %zu bytes: %s", bytes, cudaGetErrorString(error));
    return NULL;
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

static int cuda_synchronize(struct device *device)
{
    (void)device;
    if (check(cudaDeviceSynchronize(), "the GPU") < 0) return -1;
    return check(cudaGetLastError(), "the GPU");
}

static int copy(struct device *device, void *to, const void *from, size_t bytes,
                enum cudaMemcpyKind kind)
{
    if (check(cudaMemcpyAsync(to, from, bytes, kind, device->stream), "copying") < 0) return -1;
    return check(cudaStreamSynchronize(device->stream), "copying");
}

static int cuda_to_host(struct device *device, void *host, const void *memory, size_t bytes)
{
    return copy(device, host, memory, bytes, cudaMemcpyDeviceToHost);
}

static int cuda_from_host(struct device *device, void *memory, const void *host, size_t bytes)
{
    return copy(device, memory, host, bytes, cudaMemcpyHostToDevice);
}

static int cuda_set(struct device *device, void *memory, uint8_t byte, size_t bytes)
{
    if (check(cudaMemsetAsync(memory, byte, bytes, device->stream), "setting memory") < 0)
        return -1;
    return check(cudaStreamSynchronize(device->stream), "setting memory");
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

/* ---------------------------------------------------------------- timing -- */

static void *cuda_stream(struct device *device)
{
    return device->stream;
}

static int flush(struct device *device)
{
    if (device->flush_by_write)
        return kernel_flush_write(device->stream, device->flush, device->flush_bytes);
    return kernel_flush_read(device->stream, device->flush, device->flush_bytes, device->sum);
}

/* Work until two looks at the SM clock agree. A GPU that worked a moment ago is
 * warm already. */
static int cuda_warm_up(struct device *device)
{
    double start = clock_s(), last_mhz = 0;
    if (start - device->worked_s < 0.05) return 0;
    while (clock_s() - start < WARM_LIMIT_MS * 1e-3) {
        double slice = clock_s();
        while (clock_s() - slice < WARM_SLICE_MS * 1e-3) {
            for (int i = 0; i < 16; i++)
                if (flush(device) < 0) return -1;
            if (check(cudaStreamSynchronize(device->stream), "warming up") < 0) return -1;
        }
        struct device_state state;
        nvml_state(&state);
        bool steady = fabs(state.sm_mhz - last_mhz) <= 0.01 * last_mhz;
        bool blind = isnan(state.sm_mhz) && clock_s() - start > 0.1;
        if (steady || blind) break;
        last_mhz = state.sm_mhz;
    }
    device->worked_s = clock_s();
    return 0;
}

/* Enqueue one sample behind its mark. */
static int enqueue(struct device *device, const struct block *block, int i)
{
    if (block->temperature == ASSAY_COLD && flush(device) < 0) return -1;
    if (kernel_hold(device->stream, block->hold_ns) < 0) return -1;
    if (check(cudaEventRecord(device->before[i], device->stream), "recording an event") < 0)
        return -1;
    nvtx_push(NVTX_LAUNCH, block->variant->name);
    int status = block->variant->launch(block->call);
    nvtx_pop();
    if (status < 0) return -1;
    return check(cudaEventRecord(device->after[i], device->stream), "recording an event");
}

/* One launch by the host clock: from the call to the completed synchronisation. */
static int wall_sample(struct device *device, const struct block *block, double *wall_ns)
{
    if (block->temperature == ASSAY_COLD && flush(device) < 0) return -1;
    if (kernel_hold(device->stream, 0) < 0) return -1;
    if (cuda_synchronize(device) < 0) return -1;
    double start = clock_ns();
    if (block->variant->launch(block->call) < 0) return -1;
    if (cuda_synchronize(device) < 0) return -1;
    *wall_ns = clock_ns() - start;
    return 0;
}

/* ------------------------------------------------ from records to samples -- */

static bool is_ours(const struct cupti_record *record)
{
    return record->kind == CUPTI_KERNEL && record->name &&
           (strcmp(record->name, KERNEL_FLUSH_READ_NAME) == 0 ||
            strcmp(record->name, KERNEL_FLUSH_WRITE_NAME) == 0);
}

static bool is_mark(const struct cupti_record *record)
{
    return record->kind == CUPTI_KERNEL && record->name &&
           strcmp(record->name, KERNEL_HOLD_NAME) == 0;
}

/* The device's activities between one mark and the next flush or mark. */
struct span {
    uint64_t first_ns, last_ns, busy_ns, longest_ns;
    int activities;
    bool incomplete;
};

static void span_add(struct span *span, const struct cupti_record *record)
{
    if (record->start_ns == 0 || record->end_ns < record->start_ns) span->incomplete = true;
    if (span->activities == 0 || record->start_ns < span->first_ns)
        span->first_ns = record->start_ns;
    if (record->end_ns > span->last_ns) span->last_ns = record->end_ns;
    span->busy_ns += record->end_ns - record->start_ns;
    span->activities++;
}

static struct block_sample span_sample(const struct span *span)
{
    struct block_sample sample = {NAN, NAN, NAN, MARK_INCOMPLETE};
    if (span->activities == 0 || span->incomplete) return sample;
    sample.mark = 0;
    sample.time_ns = (double)(span->last_ns - span->first_ns);
    sample.busy_ns = (double)span->busy_ns;
    return sample;
}

/* What ran in the first sample: its kernels' machine code, hashed together in
 * order, and the resources of the longest. */
static void see_code(const struct cupti_record *record, struct span *span, struct code_seen *code)
{
    code->kernels = span->activities;
    if (record->kind != CUPTI_KERNEL) return;
    char hash[RESULT_MAX_HASH];
    cupti_code_hash(record->name, hash);
    unsigned long long part[2] = {0, 0}, whole[2] = {0, 0};
    if (sscanf(hash, "%16llx%16llx", &part[0], &part[1]) == 2) {
        sscanf(code->hash, "%16llx%16llx", &whole[0], &whole[1]);
        for (int i = 0; i < 2; i++)
            whole[i] = fill_hash(whole[i], part[i]);
        snprintf(code->hash, sizeof code->hash, "%016llx%016llx", whole[0], whole[1]);
    }
    uint64_t length_ns = record->end_ns - record->start_ns;
    if (length_ns < span->longest_ns) return;
    span->longest_ns = length_ns;
    code->registers = record->registers;
    code->shared_bytes = record->shared_bytes;
    code->local_bytes = record->local_bytes;
}

/* Deal the records out to the samples: sample i's stand behind mark i. */
static int deal_records(int count, struct block_sample *out, struct code_seen *code)
{
    const struct cupti_record *records;
    int record_count, lost, sample = -1;
    if (cupti_collect(&records, &record_count, &lost) < 0) return -1;
    struct span span = {0};
    bool inside = false;
    for (int i = 0; i <= record_count; i++) {
        bool end = i == record_count || is_mark(&records[i]) || is_ours(&records[i]);
        if (end && inside && sample < count) {
            out[sample] = span_sample(&span);
            inside = false;
        }
        if (i == record_count) break;
        if (is_mark(&records[i])) {
            memset(&span, 0, sizeof span);
            inside = true;
            sample++;
        } else if (inside && !is_ours(&records[i]) && sample < count) {
            span_add(&span, &records[i]);
            if (sample == 0) see_code(&records[i], &span, code);
        }
    }
    /* Lost records shift the marks: none of the block can be trusted. */
    if (lost > 0 || sample + 1 < count)
        for (int i = 0; i < count; i++)
            out[i] = (struct block_sample){NAN, NAN, out[i].event_ns, MARK_INCOMPLETE};
    return 0;
}

static int read_events(struct device *device, int count, double *event_ns)
{
    for (int i = 0; i < count; i++) {
        float ms = 0;
        if (check(cudaEventElapsedTime(&ms, device->before[i], device->after[i]),
                  "reading an event pair") < 0)
            return -1;
        event_ns[i] = 1e6 * (double)ms;
    }
    return 0;
}

static void forget_code(struct code_seen *code)
{
    memset(code, 0, sizeof *code);
    code->kernels = code->registers = code->shared_bytes = code->local_bytes = -1;
}

/* Drop the records of whatever came before, so that marks can be counted. */
static int forget_records(struct device *device)
{
    const struct cupti_record *records;
    int count, lost;
    return device->cupti ? cupti_collect(&records, &count, &lost) : 0;
}

static int sample_device_clock(struct device *device, const struct block *block,
                               struct block_sample *out, struct code_seen *code)
{
    double event_ns[MAX_BLOCK];
    if (block->temperature == ASSAY_HOT && block->variant->launch(block->call) < 0) return -1;
    if (cuda_synchronize(device) < 0 || forget_records(device) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        if (enqueue(device, block, i) < 0) return -1;
    if (cuda_synchronize(device) < 0) return -1;
    if (read_events(device, block->count, event_ns) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        out[i] = (struct block_sample){.time_ns = event_ns[i], .busy_ns = NAN};
    if (device->cupti && deal_records(block->count, out, code) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        out[i].event_ns = event_ns[i];
    return 0;
}

static int sample_wall_clock(struct device *device, const struct block *block,
                             struct block_sample *out, struct code_seen *code)
{
    double wall_ns[MAX_BLOCK];
    if (block->temperature == ASSAY_HOT && block->variant->launch(block->call) < 0) return -1;
    if (cuda_synchronize(device) < 0 || forget_records(device) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        if (wall_sample(device, block, &wall_ns[i]) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        out[i] = (struct block_sample){.busy_ns = NAN};
    if (device->cupti && deal_records(block->count, out, code) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        out[i] = (struct block_sample){wall_ns[i], out[i].busy_ns, NAN, 0};
    return 0;
}

static int cuda_sample(struct device *device, const struct block *block, struct block_sample *out,
                       double *wall_ns, struct code_seen *code)
{
    if (block->count > MAX_BLOCK) return assay_error("a block of %d samples", block->count);
    forget_code(code);
    *wall_ns = NAN;
    int status;
    if (block->variant->clock == ASSAY_CLOCK_WALL) {
        status = sample_wall_clock(device, block, out, code);
        *wall_ns = out[block->count - 1].time_ns;
    } else {
        status = sample_device_clock(device, block, out, code);
        if (status == 0) status = wall_sample(device, block, wall_ns);
    }
    device->worked_s = clock_s();
    return status;
}

static int cuda_energy(struct device *device, const struct block *block, double ns, int *launches,
                       double *energy_mj)
{
    struct device_state before, after;
    *launches = 0;
    *energy_mj = NAN;
    nvml_state(&before);
    if (isnan(before.energy_mj)) return 0;
    double start = clock_ns();
    do {
        for (int i = 0; i < 32; i++, ++*launches)
            if (block->variant->launch(block->call) < 0) return -1;
        if (cuda_synchronize(device) < 0) return -1;
    } while (clock_ns() - start < ns);
    nvml_state(&after);
    *energy_mj = after.energy_mj - before.energy_mj;
    return 0;
}

static void cuda_state(struct device *device, struct device_state *state)
{
    (void)device;
    nvml_state(state);
}

/* ---------------------------------------------------------------- floors -- */

static int launch_empty(struct assay_call *call)
{
    return kernel_empty(call->stream);
}

/* The empty kernel by both clocks: what every event pair carries, and the least
 * a kernel can take. */
static int measure_floors(struct device *device)
{
    static const struct assay_variant empty = {
        .name = "empty", .place = ASSAY_CUDA, .launch = launch_empty};
    struct assay_call call = {.stream = device->stream};
    struct block block = {&empty, &call, ASSAY_HOT, FLOOR_SAMPLES, 30000};
    struct block_sample samples[FLOOR_SAMPLES];
    struct code_seen code;
    double wall_ns, events[FLOOR_SAMPLES], kernels[FLOOR_SAMPLES];
    int event_count = 0, kernel_count = 0;
    for (int warm = 0; warm < 2; warm++)
        if (cuda_sample(device, &block, samples, &wall_ns, &code) < 0) return -1;
    for (int i = 0; i < FLOOR_SAMPLES; i++) {
        events[event_count++] = samples[i].event_ns;
        if (device->cupti && samples[i].mark == 0) kernels[kernel_count++] = samples[i].time_ns;
    }
    device->event_floor_ns = stats_median(events, event_count);
    device->kernel_floor_ns = stats_median(kernels, kernel_count);
    if (device->cupti && kernel_count == 0) {
        /* It opened and yet gives nothing: better an honest event clock. */
        assay_error("CUPTI delivers no kernel records");
        lose(device, "kernel timestamps (CUPTI)");
        cupti_close();
        device->cupti = false;
    }
    return 0;
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
    .fill = cuda_fill,
    .checksum = cuda_checksum,
    .now_s = device_wall_s,
    .stream = cuda_stream,
    .synchronize = cuda_synchronize,
    .warm_up = cuda_warm_up,
    .sample = cuda_sample,
    .energy = cuda_energy,
    .state = cuda_state,
};
