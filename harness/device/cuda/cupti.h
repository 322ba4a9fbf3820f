/*
 * cupti.h - kernel timestamps from CUPTI's activity records, loaded at run time
 * (dlopen). One user, in the worker process, on one thread.
 *
 * Where CUPTI is absent, refused or taken by a profiler, cupti_open says so and
 * the device falls back on event pairs.
 */
#ifndef CUPTI_H
#define CUPTI_H

#include "case/result.h"

enum cupti_kind { CUPTI_KERNEL, CUPTI_COPY, CUPTI_SET };

/* One thing the device did. */
struct cupti_record {
    enum cupti_kind kind;
    uint64_t start_ns, end_ns; /* the device's clock */
    uint32_t correlation;      /* the API call that asked for it */
    uint32_t stream;
    const char *name; /* a kernel's mangled name; owned by cupti.c until close */
    int32_t registers, shared_bytes, local_bytes;
    int32_t dynamic_shared_bytes; /* of shared_bytes */
    int32_t grid[3], block[3];    /* of a kernel; -1 otherwise */
};

/* Load CUPTI and start recording kernels, copies and sets. Call before the CUDA
 * context is made, so that module loads are seen. -1 with assay_error. */
int cupti_open(void);
void cupti_close(void);

/* Whether records are being made. */
bool cupti_is_open(void);

/* Go on recording, or stop for a while: a record costs each kernel about half a
 * microsecond, which is nothing to its own timestamps and much to the time
 * between two of them. */
int cupti_record(bool on);

/* Everything recorded since the last call, in order of start; the caller has
 * synchronised the device. *records is valid until the next call. *lost counts
 * records dropped. */
int cupti_collect(const struct cupti_record **records, int *count, int *lost);

/* Hash (32 hex digits) of the machine code of a kernel seen loading, by its
 * mangled name: the section .text.NAME of its cubin. "" when it was not seen. */
void cupti_code_hash(const char *kernel_name, char out[RESULT_MAX_HASH]);

#endif
