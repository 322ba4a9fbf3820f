/*
 * inject_cuda.c - the library that `assay time` has the driver load into a program
 * (CUDA_INJECTION64_PATH): it records each kernel that the process runs, by CUPTI's activity
 * records, in a file of ASSAY_TIME_FOLDER (device/trace_format.h).
 *
 * It is a guest: it prints nothing, ends nothing, holds no file open, and a program whose records
 * cannot be had runs as it would without. The records of the last moments are lost where the
 * process dies or calls _exit: a thread fetches them four times a second.
 *
 * A kernel's record does not say from which range it was launched. So where the process uses NVTX,
 * and only there, the calls that launch are watched, and each one's correlation id, which the
 * record has too, is kept with the range of the thread that called.
 */
#if __has_include(<cupti_activity.h>)

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <cupti_runtime_cbid.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/library.h"
#include "device/cuda/cupti_activity_cuda.h"
#include "device/cuda/cupti_library.h"
#include "device/cuda/inject/devices.h"
#include "device/cuda/inject/ranges.h"
#include "device/trace_writer.h"

enum {
    BUFFER_BYTES = 256 << 10, /* some 1200 kernels */
    BUFFER_ALIGNMENT = 64,
    FETCH_MS = 250,
    CALLS = 1 << 20, /* launches whose records have not come */
};

/* ----------------------------------------------------------------- CUPTI -- */

/* clang-format off */
#define EACH_CALL(each) \
    each(cuptiSubscribe) \
    each(cuptiEnableCallback) \
    each(cuptiActivityRegisterCallbacks) \
    each(cuptiActivityEnable) \
    each(cuptiActivityFlushAll) \
    each(cuptiActivityGetNextRecord) \
    each(cuptiActivityGetNumDroppedRecords)
/* clang-format on */

struct api {
    EACH_CALL(LIBRARY_DECLARED)
};
static const struct library_symbol api_symbols[] = {EACH_CALL(LIBRARY_NAME)};

#define CALL(name, ...) cupti_check(recorder.api.name(__VA_ARGS__), #name)

/* One per process, as CUPTI is. */
static struct {
    struct api api;
    CUpti_SubscriberHandle subscriber;
    pid_t pid; /* a process that was forked is not the one that is recorded */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* protects all that follows */
    pthread_cond_t wake;
    struct trace_writer *writer;  /* NULL before the start and after the end */
    struct trace_writer *parents; /* of a forked process: held, or a leak checker would tell */
    struct symbols symbols;
    bool is_ending, has_devices;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* ---------------------------------------------------------------- ranges -- */

/* Of each call that launched, at its correlation id modulo CALLS: the id, and below it the range of
 * its thread. Made when there is a range. */
static _Atomic uint64_t *_Atomic calls;

static void keep_range(uint32_t correlation)
{
    _Atomic uint64_t *kept = atomic_load(&calls);
    if (kept)
        atomic_store(&kept[correlation % CALLS], (uint64_t)correlation << 32 | ranges_current());
}

/* Of a call that was overwritten by a later one, nothing is known. */
static const char *range_of(uint32_t correlation)
{
    _Atomic uint64_t *kept = atomic_load(&calls);
    uint64_t entry = kept ? atomic_load(&kept[correlation % CALLS]) : 0;
    if (entry >> 32 == correlation) return ranges_name((uint32_t)entry);
    return entry >> 32 > correlation ? TRACE_MORE_RANGES : NULL;
}

struct watched_call {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId id;
};

/* The runtime's calls go through the driver's; a record has the id of the one that was called. */
static const struct watched_call launching[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000},
#if CUDA_VERSION >= 13000
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000},
#endif
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz},
};

/* A call that this CUPTI does not know is not made. */
static void watch(const struct watched_call *watched, size_t count)
{
    for (size_t i = 0; i < count; i++)
        recorder.api.cuptiEnableCallback(1, recorder.subscriber, watched[i].domain, watched[i].id);
}

/* Called at the first range, by its thread. */
static void watch_launches(void)
{
    void *memory = mmap(NULL, CALLS * sizeof *calls, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    _Atomic uint64_t *none = NULL;
    if (!atomic_compare_exchange_strong(&calls, &none, memory)) {
        munmap(memory, CALLS * sizeof *calls);
        return;
    }
    watch(launching, sizeof launching / sizeof *launching);
}

/* --------------------------------------------------------------- devices -- */

static void keep_device(const struct trace_device *device)
{
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer) trace_writer_device(recorder.writer, device);
    pthread_mutex_unlock(&recorder.lock);
}

/* Before there is a context the driver is still being initialised. */
static void see_context(void)
{
    pthread_mutex_lock(&recorder.lock);
    bool is_first = !recorder.has_devices;
    recorder.has_devices = true;
    pthread_mutex_unlock(&recorder.lock);
    if (is_first) devices_each(keep_device);
}

/* --------------------------------------------------------------- records -- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *record_limit)
{
    /* Without a buffer CUPTI drops records, and counts them. */
    *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *record_limit = 0;
}

static void keep_activity(const CUpti_Activity *activity)
{
    struct cupti_record record;
    if (!activity_read(activity, &recorder.symbols, &record) || record.kind != CUPTI_KERNEL) return;
    const struct trace_launch launch = {
        .kernel = record.name,
        .range = range_of(record.correlation),
        .start_ns = record.start_ns,
        .end_ns = record.end_ns,
        .device = record.device,
        .grid = {record.grid[0], record.grid[1], record.grid[2]},
        .block = {record.block[0], record.block[1], record.block[2]},
        .registers = record.registers,
        .static_shared_bytes = record.shared_bytes - record.dynamic_shared_bytes,
        .dynamic_shared_bytes = record.dynamic_shared_bytes,
        .local_bytes = record.local_bytes,
    };
    trace_writer_launch(recorder.writer, &launch);
}

/* The lock is not held during calls into CUPTI, which may hold one of its own as it calls back. */
static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                      size_t size, size_t valid_bytes)
{
    (void)context;
    (void)stream;
    (void)size;
    CUpti_Activity *activity = NULL;
    CUptiResult result = buffer && valid_bytes > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
    while (result == CUPTI_SUCCESS) {
        result = recorder.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &activity);
        pthread_mutex_lock(&recorder.lock);
        if (recorder.writer && result == CUPTI_SUCCESS)
            keep_activity(activity);
        else if (recorder.writer && result != CUPTI_ERROR_MAX_LIMIT_REACHED)
            trace_writer_lost(recorder.writer, 1); /* the rest is unreadable: at least one */
        pthread_mutex_unlock(&recorder.lock);
    }
    free(buffer);
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer) trace_writer_flush(recorder.writer);
    pthread_mutex_unlock(&recorder.lock);
}

/* Have CUPTI deliver what it has, and write that. */
static void fetch(uint32_t flag)
{
    size_t dropped = 0;
    recorder.api.cuptiActivityFlushAll(flag);
    recorder.api.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer) {
        trace_writer_lost(recorder.writer, dropped);
        trace_writer_flush(recorder.writer);
    }
    pthread_mutex_unlock(&recorder.lock);
}

static void *fetch_now_and_then(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&recorder.lock);
    while (!recorder.is_ending) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += FETCH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&recorder.wake, &recorder.lock, &until);
        if (recorder.is_ending) break;
        pthread_mutex_unlock(&recorder.lock);
        fetch(0);
        pthread_mutex_lock(&recorder.lock);
    }
    pthread_mutex_unlock(&recorder.lock);
    return NULL;
}

/* ------------------------------------------------------- start and end -- */

/* With a context go its records that were not fetched. */
static const struct watched_call ending[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2},
};
enum { ENDING = sizeof ending / sizeof *ending };

static bool ends_context(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    for (int i = 0; i < ENDING; i++)
        if (ending[i].domain == domain && ending[i].id == id) return true;
    return false;
}

static void CUPTIAPI see_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *data)
{
    (void)user;
    const CUpti_CallbackData *call = data;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) see_context();
    } else if (call && call->callbackSite == CUPTI_API_ENTER) {
        if (ends_context(domain, id))
            fetch(0);
        else
            keep_range(call->correlationId);
    }
}

static int start_cupti(void)
{
    void *library = cupti_library();
    if (!library ||
        library_bind(library, api_symbols, sizeof api_symbols / sizeof *api_symbols, &recorder.api))
        return -1;
    if (CALL(cuptiSubscribe, &recorder.subscriber, see_call, NULL) ||
        CALL(cuptiEnableCallback, 1, recorder.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
             CUPTI_CBID_RESOURCE_CONTEXT_CREATED) ||
        CALL(cuptiActivityRegisterCallbacks, buffer_requested, buffer_completed))
        return -1;
    /* KIND_KERNEL would serialise the kernels. */
    return CALL(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

/* The program's signals are for its own threads. */
static void start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    recorder.has_thread = pthread_create(&recorder.thread, NULL, fetch_now_and_then, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end(void)
{
    if (recorder.pid != getpid()) return;
    pthread_mutex_lock(&recorder.lock);
    recorder.is_ending = true;
    pthread_cond_signal(&recorder.wake);
    pthread_mutex_unlock(&recorder.lock);
    if (recorder.has_thread) pthread_join(recorder.thread, NULL);
    fetch(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer) trace_writer_end(recorder.writer);
    recorder.writer = NULL;
    pthread_mutex_unlock(&recorder.lock);
}

/* The threads of the process that was forked are not there, nor is what they held. */
static void forget(void)
{
    pthread_mutex_init(&recorder.lock, NULL);
    recorder.parents = recorder.writer;
    recorder.writer = NULL;
    ranges_forked();
}

static void start(void)
{
    const char *folder = getenv("ASSAY_TIME_FOLDER");
    struct trace_writer *writer = folder ? trace_writer_open(folder) : NULL;
    if (!writer) return;
    if (start_cupti() != 0) {
        trace_writer_failed(writer, assay_last_error());
        trace_writer_end(writer);
        return;
    }
    pthread_mutex_lock(&recorder.lock);
    recorder.pid = getpid();
    recorder.writer = writer;
    trace_writer_flush(writer);
    pthread_mutex_unlock(&recorder.lock);
    pthread_atfork(NULL, NULL, forget);
    watch(ending, ENDING);
    start_thread();
    atexit(end);
    ranges_watch(watch_launches);
}

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Called by the driver in its initialisation. */
int InitializeInjection(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return 1;
}

#endif
