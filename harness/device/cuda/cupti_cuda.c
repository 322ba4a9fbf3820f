/*
 * cupti_cuda.c - the session that records activities: CUPTI's subscriber and its buffers.
 * (CUPTI's documentation: "CUPTI Activity API", "CUPTI Callback API".) The records
 * themselves are decoded in cupti_activity_cuda.c.
 *
 * CUPTI requests a buffer when something is launched, fills it, and returns it when it is
 * full or flushed; both are callbacks that may run on a thread of CUPTI, hence the lock. A
 * returned buffer is decoded at once, and cupti_collect swaps the decoded records for an
 * empty list.
 *
 * The timestamps are taken by the device and converted to host time by CUPTI; only
 * differences between them are meaningful.
 */
#include "device/cuda/cupti.h"

/* CUPTI is a separate package, which nvcc does not require. Not <cupti.h>, because this
 * module has a header of that name. */
#if __has_include(<cupti_activity.h>)

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/library.h"
#include "device/cuda/cupti_activity_cuda.h"
#include "device/cuda/cupti_library.h"
#include "device/cuda/symbols.h"

enum {
    BUFFER_BYTES = 2 << 20, /* some 10 000 kernels */
    BUFFER_ALIGNMENT = 64,  /* CUPTI asks for 8 */
};

/* ------------------------------------------------------------- the state -- */

/* The functions of CUPTI that are called, loaded at run time. */
/* clang-format off */
#define EACH_CALL(each) \
    each(cuptiSubscribe) \
    each(cuptiUnsubscribe) \
    each(cuptiEnableCallback) \
    each(cuptiEnableDomain) \
    each(cuptiActivityRegisterCallbacks) \
    each(cuptiActivitySetAttribute) \
    each(cuptiActivityEnable) \
    each(cuptiActivityDisable) \
    each(cuptiActivityFlushAll) \
    each(cuptiActivityGetNextRecord) \
    each(cuptiActivityGetNumDroppedRecords)
/* clang-format on */

struct api {
    EACH_CALL(LIBRARY_DECLARED)
};
static const struct library_symbol api_symbols[] = {EACH_CALL(LIBRARY_NAME)};

/* 0, or -1 with assay_error. */
#define CALL(name, ...) cupti_check(session.api.name(__VA_ARGS__), #name)

struct record_list {
    struct cupti_record *items;
    int count;
};

/* A free buffer holds the pointer to the next one in its first bytes. */
struct free_buffer {
    struct free_buffer *next;
};

/* A process can have one subscriber, and CUPTI's buffer callbacks take no user pointer. */
static struct {
    bool is_bound;
    struct api api;
    CUpti_SubscriberHandle subscriber;
    bool is_subscribed, is_open;
    struct cupti_watcher watcher;
    pthread_mutex_t watch_lock; /* held while the watcher is told */

    pthread_mutex_t lock; /* protects all that follows */
    struct free_buffer *free;
    struct record_list filling; /* since the last collect */
    struct record_list given;   /* what the last collect returned */
    int lost;
    struct symbols symbols;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER, .watch_lock = PTHREAD_MUTEX_INITIALIZER};

/* --------------------------------------------------------------- records -- */

static void keep_activity(const CUpti_Activity *activity)
{
    struct cupti_record record;
    if (!activity_read(activity, &session.symbols, &record)) return;
    /* CUPTI writes zeros where it could not get the times. */
    bool is_timed = record.start_ns != 0 && record.end_ns >= record.start_ns;
    struct record_list *list = &session.filling;
    struct cupti_record *kept =
        is_timed ? grow_add(&list->items, &list->count, sizeof *kept, "records") : NULL;
    if (kept)
        *kept = record;
    else
        session.lost++;
}

static int by_start(const void *left, const void *right)
{
    const struct cupti_record *a = left, *b = right;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

/* The records of one stream arrive in order, so usually there is nothing to sort. */
static void records_sort(struct record_list *list)
{
    int i = 1;
    while (i < list->count && by_start(&list->items[i - 1], &list->items[i]) <= 0)
        i++;
    if (i < list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, by_start);
}

static void records_release(struct record_list *list)
{
    free(list->items);
    *list = (struct record_list){0};
}

/* ------------------------------------------------------------- callbacks -- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *record_limit)
{
    pthread_mutex_lock(&session.lock);
    struct free_buffer *taken = session.free;
    if (taken) session.free = taken->next;
    pthread_mutex_unlock(&session.lock);

    if (taken) {
        memset(taken, 0, sizeof *taken);
    } else {
        taken = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
        if (taken) memset(taken, 0, BUFFER_BYTES);
    }
    /* Without a buffer CUPTI drops records, and counts them. */
    *buffer = (uint8_t *)taken;
    *size = taken ? BUFFER_BYTES : 0;
    *record_limit = 0;
}

/* The lock is not held during calls into CUPTI, which may hold one of its own as it calls back. */
static void read_buffer(uint8_t *buffer, size_t valid_bytes)
{
    CUpti_Activity *activity = NULL;
    CUptiResult result = CUPTI_SUCCESS;
    while (valid_bytes > 0 && result == CUPTI_SUCCESS) {
        result = session.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &activity);
        pthread_mutex_lock(&session.lock);
        if (result == CUPTI_SUCCESS)
            keep_activity(activity);
        else if (result != CUPTI_ERROR_MAX_LIMIT_REACHED)
            session.lost++; /* the rest of the buffer is unreadable: at least one record */
        pthread_mutex_unlock(&session.lock);
    }
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                      size_t size, size_t valid_bytes)
{
    (void)context;
    (void)stream;
    (void)size;
    if (!buffer) return;
    read_buffer(buffer, valid_bytes);

    /* Cleared here, outside the timed path: see set_attributes. */
    memset(buffer, 0, BUFFER_BYTES);
    struct free_buffer *returned = (struct free_buffer *)buffer;
    pthread_mutex_lock(&session.lock);
    returned->next = session.free;
    session.free = returned;
    pthread_mutex_unlock(&session.lock);
}

/* The cubin is only valid during the callback, so its code is hashed here. Modules of vendor
 * libraries have tens of megabytes; the hash runs at the speed of memory. */
static void see_module(const CUpti_ModuleResourceData *module)
{
    if (!module || !module->pCubin || module->cubinSize == 0) return;
    pthread_mutex_lock(&session.lock);
    symbols_see_module(&session.symbols, module->pCubin, module->cubinSize);
    pthread_mutex_unlock(&session.lock);
    if (!session.watcher.module) return;
    pthread_mutex_lock(&session.watch_lock);
    session.watcher.module(session.watcher.context, module->pCubin, module->cubinSize);
    pthread_mutex_unlock(&session.watch_lock);
}

/* A module may be loaded within a call that is told, and the watcher makes calls itself: of these
 * it is not told, so that its lock is not taken twice. */
static void see_call(const CUpti_CallbackData *call)
{
    static _Thread_local bool is_telling;
    if (is_telling || !session.watcher.call) return;
    is_telling = true;
    pthread_mutex_lock(&session.watch_lock);
    session.watcher.call(session.watcher.context, call->functionName,
                         call->callbackSite == CUPTI_API_EXIT, call->functionParams,
                         call->symbolName);
    pthread_mutex_unlock(&session.watch_lock);
    is_telling = false;
}

static void CUPTIAPI see_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void *data)
{
    (void)user;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && data)
        see_call(data);
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED && data)
        see_module(((const CUpti_ResourceData *)data)->resourceDescriptor);
}

/* --------------------------------------------------------------- opening -- */

/* Profilers and sanitizers name here a library that the driver loads before our first CUDA call. */
static int check_not_taken(void)
{
    const char *injected = getenv("CUDA_INJECTION64_PATH");
    if (injected && *injected)
        return assay_error("CUPTI is taken by another profiler (CUDA_INJECTION64_PATH is set)");
    return 0;
}

static int load(void)
{
    void *library = cupti_library();
    if (library == NULL) return -1;
    if (library_bind(library, api_symbols, sizeof api_symbols / sizeof *api_symbols, &session.api))
        return -1;
    session.is_bound = true;
    return 0;
}

/* CUPTI clears each buffer in the launching thread unless this attribute says that it is
 * cleared. For a version without the attribute it is harmlessly cleared twice. */
static void set_attributes(void)
{
    uint8_t is_zeroed = 1;
    size_t size = sizeof is_zeroed;
    session.api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size,
                                          &is_zeroed);
}

static const CUpti_ActivityKind recorded[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, /* KIND_KERNEL would serialise the kernels */
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET,
};
enum { RECORDED = sizeof recorded / sizeof *recorded };

static int enable_all(bool on)
{
    for (int i = 0; i < RECORDED; i++)
        if (on ? CALL(cuptiActivityEnable, recorded[i]) : CALL(cuptiActivityDisable, recorded[i]))
            return -1;
    return 0;
}

/* Subscribing comes first, as it is what fails when another tool uses CUPTI. Where nobody watches,
 * callbacks are enabled only for the loading of modules, so launches are not slowed down. */
static int start(void)
{
    if (CALL(cuptiSubscribe, &session.subscriber, see_callback, NULL)) return -1;
    session.is_subscribed = true;
    if (CALL(cuptiEnableCallback, 1, session.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
             CUPTI_CBID_RESOURCE_MODULE_LOADED) ||
        CALL(cuptiActivityRegisterCallbacks, buffer_requested, buffer_completed))
        return -1;
    if (session.watcher.call &&
        CALL(cuptiEnableDomain, 1, session.subscriber, CUPTI_CB_DOMAIN_DRIVER_API))
        return -1;
    set_attributes();
    return enable_all(true);
}

static void stop(void)
{
    /* Errors are ignored: the session ends in any case. */
    for (int i = 0; i < RECORDED; i++)
        session.api.cuptiActivityDisable(recorded[i]);
    if (session.is_open) session.api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (session.is_subscribed) session.api.cuptiUnsubscribe(session.subscriber);
    session.is_open = session.is_subscribed = false;
}

static void release(void)
{
    pthread_mutex_lock(&session.lock);
    while (session.free) {
        struct free_buffer *next = session.free->next;
        free(session.free);
        session.free = next;
    }
    records_release(&session.filling);
    records_release(&session.given);
    session.lost = 0;
    symbols_release(&session.symbols);
    pthread_mutex_unlock(&session.lock);
}

void cupti_watch(const struct cupti_watcher *watcher)
{
    session.watcher = watcher ? *watcher : (struct cupti_watcher){0};
}

int cupti_open(void)
{
    if (session.is_open) return 0;
    if (check_not_taken()) return -1;
    if (!session.is_bound && load()) return -1;
    if (start()) {
        stop();
        release();
        return -1;
    }
    session.is_open = true;
    return 0;
}

void cupti_close(void)
{
    if (!session.is_open) return;
    stop();
    release();
}

int cupti_record(bool on)
{
    return session.is_open ? enable_all(on) : assay_error("CUPTI is not open");
}

/* ------------------------------------------------------------ collecting -- */

int cupti_collect(const struct cupti_record **records, int *count, int *lost)
{
    *records = NULL;
    *count = *lost = 0;
    if (!session.is_open) return assay_error("CUPTI is not open");

    /* The plain flush returns the buffers of finished records, the forced one the rest, so
     * that no record of this block appears in the next. */
    size_t dropped = 0;
    if (CALL(cuptiActivityFlushAll, 0) ||
        CALL(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) ||
        CALL(cuptiActivityGetNumDroppedRecords, NULL, 0, &dropped))
        return -1;

    pthread_mutex_lock(&session.lock);
    records_release(&session.given);
    session.given = session.filling;
    session.filling = (struct record_list){0};
    *lost = session.lost + (int)dropped;
    session.lost = 0;
    pthread_mutex_unlock(&session.lock);

    records_sort(&session.given);
    *records = session.given.items;
    *count = session.given.count;
    return 0;
}

void cupti_code_hash(const char *kernel_name, char out[RESULT_MAX_HASH])
{
    out[0] = '\0';
    pthread_mutex_lock(&session.lock);
    const struct symbol *symbol = symbols_find(&session.symbols, kernel_name);
    if (symbol && symbol->state == CODE_SEEN)
        snprintf(out, RESULT_MAX_HASH, "%016llx%016llx", (unsigned long long)symbol->code.word[0],
                 (unsigned long long)symbol->code.word[1]);
    pthread_mutex_unlock(&session.lock);
}

#else /* no CUPTI headers */

void cupti_watch(const struct cupti_watcher *watcher)
{
    (void)watcher;
}

int cupti_open(void)
{
    return assay_error("CUPTI's headers were not there when this was built");
}

#endif
