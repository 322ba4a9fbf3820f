/*
 * fake_cuda.c - a driver and a CUPTI for programs of the tests, in one library whose name is
 * libcuda.so.1. It writes records and callbacks by the documented layouts, on its own, so that the
 * fields are found by place and not by a header that both sides share.
 *
 * fake_init does what cuInit does: it has the library of CUDA_INJECTION64_PATH loaded and called.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = 256,
    DRIVER = 1,
    RUNTIME = 2,
    RESOURCE = 3,
    DEVICE_RESET = 164,
    LAUNCH_KERNEL = 211,
    DOMAINS = 4,
    IDS = 700
};

typedef void (*request_fn)(uint8_t **, size_t *, size_t *);
typedef void (*complete_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void (*callback_fn)(void *, int, uint32_t, const void *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static request_fn request;
static complete_fn complete;
static callback_fn callback;
static uint8_t enabled[DOMAINS][IDS];
static uint8_t *buffer;
static size_t size, used, dropped;
static int is_recorded, refusal;
static uint32_t correlation = 100;
static uint64_t now_ns = 5000;

/* ----------------------------------------------------------------- CUPTI -- */

int cuptiGetResultString(int result, const char **text)
{
    (void)result;
    *text = "WORDS";
    return 0;
}

int cuptiSubscribe(void **subscriber, callback_fn function, void *user)
{
    (void)user;
    *subscriber = &callback;
    callback = function;
    return getenv("FAKE_REFUSES") ? 35 : 0;
}

int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id)
{
    if (subscriber != &callback || domain >= DOMAINS || id >= IDS) return 1;
    enabled[domain][id] = (uint8_t)on;
    return 0;
}

int cuptiActivityRegisterCallbacks(request_fn requested, complete_fn completed)
{
    request = requested;
    complete = completed;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    is_recorded |= kind == 10;
    return refusal;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&lock);
    uint8_t *full = buffer;
    size_t bytes = used, whole = size;
    buffer = NULL;
    pthread_mutex_unlock(&lock);
    if (full) complete(NULL, 0, full, whole, bytes);
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t bytes, uint8_t **record)
{
    uint8_t *next = *record ? *record + RECORD : from;
    if (next + RECORD > from + bytes) return 12;
    *record = next;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    (void)context;
    (void)stream;
    *count = dropped;
    dropped = 0;
    return 0;
}

/* ---------------------------------------------------------------- driver -- */

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    snprintf(name, (size_t)length, "Fake GPU");
    return 0;
}

int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(0xa0 + i + device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

int cuDeviceGetAttribute(int *value, int which, int device)
{
    (void)device;
    *value = which == 16 ? 132 : which == 75 ? 9 : which == 76 ? 0 : 1 << 20;
    return 0;
}

/* ------------------------------------------------- what the programs call -- */

void fake_init(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*start)(void) = NULL;
    void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&start, &symbol, sizeof start);
    if (start) start();
    /* The context of the first call that needs one. */
    struct {
        void *context, *resource, *more;
    } data = {&data, NULL, NULL};
    if (callback && enabled[RESOURCE][1]) callback(NULL, RESOURCE, 1, &data);
}

static void put(uint8_t *record, size_t at, uint64_t value, size_t bytes)
{
    memcpy(record + at, &value, bytes);
}

static void add_record(const char *name, uint32_t grid, uint64_t ns, uint32_t id)
{
    pthread_mutex_lock(&lock);
    if (buffer && used + RECORD > size) {
        pthread_mutex_unlock(&lock);
        cuptiActivityFlushAll(0);
        pthread_mutex_lock(&lock);
    }
    if (!buffer) {
        size_t limit;
        request(&buffer, &size, &limit);
        used = 0;
    }
    uint8_t *record = buffer + used;
    memset(record, 0, RECORD);
    put(record, 0, 10, 4); /* a concurrent kernel */
    put(record, 6, 40, 2); /* registers */
    put(record, 16, now_ns, 8);
    put(record, 24, now_ns + ns, 8);
    put(record, 40, 0, 4); /* device */
    put(record, 52, grid, 4);
    put(record, 56, 1, 4);
    put(record, 60, 1, 4);
    put(record, 64, 128, 4);
    put(record, 68, 1, 4);
    put(record, 72, 1, 4);
    put(record, 76, 1024, 4); /* static shared memory */
    put(record, 80, 512, 4);  /* dynamic */
    put(record, 92, id, 4);
    put(record, 104, (uintptr_t)name, 8);
    used += RECORD;
    now_ns += ns + 50;
    pthread_mutex_unlock(&lock);
}

/* As cudaLaunchKernel does: the call is seen as it begins and as it ends. */
void fake_launch(const char *name, unsigned grid, uint64_t ns)
{
    uint8_t data[128] = {0};
    uint32_t id = ++correlation;
    put(data, 64, id, 4);
    for (uint64_t site = 0; site < 2; site++) {
        put(data, 0, site, 4);
        if (callback && enabled[RUNTIME][LAUNCH_KERNEL])
            callback(NULL, RUNTIME, LAUNCH_KERNEL, data);
    }
    if (is_recorded) add_record(name, grid, ns, id);
}

/* As cudaDeviceReset does: with the context go the records that were not fetched. */
void fake_reset(void)
{
    uint8_t data[128] = {0};
    if (callback && enabled[RUNTIME][DEVICE_RESET]) callback(NULL, RUNTIME, DEVICE_RESET, data);
    pthread_mutex_lock(&lock);
    used = 0;
    pthread_mutex_unlock(&lock);
}

void fake_drop(size_t records)
{
    dropped += records;
}
