/*
 * device_host.c - the CPU as a device: timed by the host clock, with the last-level cache
 * in the role of L2 and OpenMP for everything that touches much memory.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "case/run_record.h"
#include "device/device.h"
#include "device/host/host_cache.h"
#include "device/host/host_memory.h"
#include "device/nvtx.h"

enum {
    ALIGNMENT = 4096,
    FALLBACK_CACHE_MIB = 32, /* if the system does not tell */
    LEAST_CACHE_BYTES = 64 << 10,
    WARM_UP_MS = 30,
    WARM_UP_BYTES = 8 << 20, /* part of the buffer: reading all of a 960 MiB one takes too long */
};

struct device {
    enum cache_flush how;
    bool warm;
    int64_t cache_bytes;
    size_t flush_bytes; /* a multiple of the page size */
    char *flush;
    bool flush_filled;  /* written once: untouched pages all map to one zero page */
    uint64_t flush_sum; /* sum of what was read, so that the compiler keeps the reads */
};

/* 0, or -1 with assay_error when the method asked for is not available. */
static int choose_flush(int32_t asked, enum cache_flush *how)
{
    bool lines = cache_lines_can_evict();
    if (asked == FLUSH_LINES && !lines)
        return assay_error("this processor lets no program evict a cache line (--flush read)");
    *how = asked >= 0 ? (enum cache_flush)asked : lines ? FLUSH_LINES : FLUSH_READ;
    return 0;
}

/* The user's setting comes first: a virtual machine may report the cache of a whole
 * package although it has only a few of its processors. 0, or -1 with assay_error. */
static int find_cache(int64_t *bytes)
{
    const char *told = getenv("ASSAY_HOST_CACHE");
    if (told && told[0] && (!text_parse_count(told, bytes) || *bytes < LEAST_CACHE_BYTES))
        return assay_error("ASSAY_HOST_CACHE=%.40s is no size of a cache (32Mi, at least 64Ki)",
                           told);
    if (told && told[0]) return 0;
    *bytes = host_cache_bytes();
    if (*bytes < 0) *bytes = (int64_t)FALLBACK_CACHE_MIB << 20;
    return 0;
}

static int host_open(const struct device_options *options, struct device **out)
{
    enum cache_flush how = FLUSH_READ;
    int64_t cache_bytes;
    if (choose_flush(options->flush, &how) < 0 || find_cache(&cache_bytes) < 0) return -1;
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL) return assay_error("out of memory for the host device");
    device->how = how;
    device->cache_bytes = cache_bytes;
    device->flush_bytes = 2 * (size_t)cache_bytes / ALIGNMENT * ALIGNMENT;
    device->flush = aligned_alloc(ALIGNMENT, device->flush_bytes);
    if (device->flush == NULL) {
        free(device);
        return assay_error("out of memory for the buffer that clears the caches");
    }
    *out = device;
    return 0;
}

static void host_close(struct device *device)
{
    free(device->flush);
    free(device);
}

static double clock_step_ns(void)
{
    double step = INFINITY;
    for (int i = 0; i < 1000; i++) {
        double before = clock_ns(), after = clock_ns();
        if (after > before) step = fmin(step, after - before);
    }
    return step;
}

static void describe_host(struct device *device, struct device_info *info)
{
    struct utsname system;
    device_info_init(info);
    info->place = ASSAY_HOST;
    snprintf(info->spec, sizeof info->spec, "host");
    if (!host_cpu_name(info->name, sizeof info->name, ""))
        snprintf(info->name, sizeof info->name, "unknown CPU");
    if (uname(&system) == 0) snprintf(info->driver, sizeof info->driver, "%s", system.release);
    info->multiprocessors = omp_get_max_threads();
    long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    info->l1_bytes = l1 > 0 ? l1 : -1;
    info->cache_bytes = device->cache_bytes;
    info->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    info->clock = CLOCK_HOST;
    info->flush = device->how;
    info->clock_step_ns = clock_step_ns();
}

/* ---------------------------------------------------------------- timing -- */

static int host_synchronize(struct device *device)
{
    (void)device;
    return 0;
}

/* ----------------------------------------------------------------- cold -- */

/* The sum is stored, so that the compiler keeps the reads. */
static void read_buffer(struct device *device, size_t bytes)
{
    uint64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (size_t i = 0; i < bytes; i += 64)
        total += (unsigned char)device->flush[i];
    device->flush_sum += total;
}

static void write_buffer(struct device *device)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < device->flush_bytes; i += 64)
        device->flush[i]++;
    device->flush_filled = true;
}

/* Evict everything. The buffer is filled at the first use: most cases are made cold line
 * by line, and filling twice a cache of hundreds of MiB takes longer than a small suite. */
static void clear_caches(struct device *device)
{
    if (device->how == FLUSH_WRITE || !device->flush_filled) write_buffer(device);
    if (device->how != FLUSH_WRITE) read_buffer(device, device->flush_bytes);
}

struct operands {
    int count;
    size_t total; /* bytes */
    size_t bytes[ASSAY_MAX_BUFFERS];
};

static void find_operands(const struct assay_shape *shape, struct operands *operands)
{
    struct assay_buffer spec[ASSAY_MAX_BUFFERS];
    memset(spec, 0, sizeof spec);
    memset(operands, 0, sizeof *operands);
    if (shape->operation->buffers == NULL) return;
    operands->count = shape->operation->buffers(shape, spec);
    for (int i = 0; i < operands->count; i++) {
        operands->bytes[i] = (size_t)spec[i].count * assay_type_bytes(spec[i].type);
        operands->total += operands->bytes[i];
    }
}

/* Whether to evict line by line: if the addresses of everything the variant uses are known
 * and it is smaller than the flush buffer, as a line costs about the same either way. The
 * address of memory that setup allocated is unknown, so a variant with a workspace gets
 * everything evicted. Depends only on sizes, so that a case is always treated alike. */
static bool by_lines(const struct device *device, const struct assay_call *call,
                     const struct operands *operands)
{
    return device->how == FLUSH_LINES && call->workspace_bytes == 0 &&
           operands->total <= device->flush_bytes;
}

static void make_cold(struct device *device, const struct assay_call *call,
                      const struct operands *operands)
{
    if (!by_lines(device, call, operands)) {
        clear_caches(device);
        return;
    }
    for (int i = 0; i < operands->count; i++)
        cache_lines_evict(call->buffer[i], operands->bytes[i]);
}

/* Once is enough: the clock rate of a CPU settles in milliseconds and stays high while
 * groups follow one another. Also starts the OpenMP threads. */
static int host_warm_up(struct device *device)
{
    double end = clock_s() + WARM_UP_MS * 1e-3;
    size_t bytes = device->flush_bytes < WARM_UP_BYTES ? device->flush_bytes : WARM_UP_BYTES;
    while (!device->warm && clock_s() < end)
        read_buffer(device, bytes);
    device->warm = true;
    return 0;
}

static int host_sample(struct device *device, const struct block *block, struct block_sample *out,
                       struct block_totals *totals, struct code_seen *code)
{
    bool hot = block->temperature == ASSAY_HOT, warmed = hot && !block->no_warm_up;
    *totals = (struct block_totals){NAN, block->count + warmed};
    if (!block->turn) code_seen_clear(code);
    struct operands operands;
    find_operands(block->call->shape, &operands);
    if (warmed && block->variant->launch(block->call) < 0) return -1;
    for (int i = 0; i < block->count; i++) {
        struct block_turn turn = block_turn_of(block, i);
        if (!hot) make_cold(device, turn.call, &operands);
        nvtx_push(NVTX_LAUNCH, turn.variant->name);
        double start = clock_ns();
        int status = turn.variant->launch(turn.call);
        double end = clock_ns();
        nvtx_pop();
        if (status < 0) return -1;
        out[i] = (struct block_sample){.time_ns = end - start, .busy_ns = NAN, .event_ns = NAN};
        if (!block->turn) totals->wall_ns = end - start; /* the same clock: keep the last sample */
    }
    return 0;
}

static void host_state(struct device *device, struct device_state *state)
{
    (void)device;
    device_state_init(state);
}

const struct device_ops device_host = {
    .name = "host",
    .open = host_open,
    .close = host_close,
    .describe = describe_host,
    HOST_MEMORY_OPS,
    .now_s = device_wall_s,
    .synchronize = host_synchronize,
    .warm_up = host_warm_up,
    .sample = host_sample,
    .state = host_state,
};
