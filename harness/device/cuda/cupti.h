/*
 * cupti.h - kernel timestamps from CUPTI's activity records. CUPTI is loaded at run time
 * (dlopen) and used in the worker process, by one thread.
 *
 * Where CUPTI is missing, not permitted or used by a profiler, cupti_open fails with the
 * reason and the device falls back on event pairs.
 */
#pragma once

#include "case/result.h"

/* Where CUPTI's headers were not there, cupti_watch and cupti_open are, which fails. */
#pragma weak cupti_close
#pragma weak cupti_record
#pragma weak cupti_collect
#pragma weak cupti_code_hash

enum cupti_kind { CUPTI_KERNEL, CUPTI_COPY, CUPTI_SET };

/* One activity of the device. */
struct cupti_record {
    enum cupti_kind kind;
    uint64_t start_ns, end_ns; /* the device's clock */
    uint32_t correlation;      /* id of the API call that caused it */
    uint32_t stream;
    int32_t device;   /* of a kernel: its ordinal; -1 otherwise */
    const char *name; /* mangled name of a kernel; valid until cupti_close */
    int32_t registers, shared_bytes, local_bytes;
    int32_t dynamic_shared_bytes; /* part of shared_bytes */
    int32_t grid[3], block[3];    /* of a kernel; -1 otherwise */
};

/* Who is told of modules that are loaded, and of every call of the driver's interface before and
 * after it is made: its name, its parameters (driver_calls.h), and of a launch the linker's name of
 * the kernel. Not told of what it calls itself. */
struct cupti_watcher {
    void (*module)(void *context, const void *cubin, size_t size);
    void (*call)(void *context, const char *name, bool has_ended, const void *parameters,
                 const char *kernel);
    void *context;
};

/* For the sessions that are opened from now on; NULL: nobody is told. */
void cupti_watch(const struct cupti_watcher *watcher);

/* Load CUPTI and start recording kernels, copies and memsets. Call it before the CUDA
 * context is created, so that module loads are seen. -1 with assay_error. */
int cupti_open(void);
void cupti_close(void);

/* Resume or pause recording. Recording delays each kernel by about half a microsecond: that
 * does not change its own timestamps but much of the time between two kernels. */
int cupti_record(bool on);

/* Everything recorded since the last call, in order of start; the caller has
 * synchronised the device. *records is valid until the next call. *lost counts
 * records dropped. */
int cupti_collect(const struct cupti_record **records, int *count, int *lost);

/* Hash (32 hex digits) of the machine code of the kernel with this mangled name, which is
 * section .text.NAME of its cubin. "" when its module was not seen loading. */
void cupti_code_hash(const char *kernel_name, char out[RESULT_MAX_HASH]);
