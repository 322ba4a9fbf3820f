/*
 * trace_read.h - what the processes of one run of a program recorded, from the files that
 * device/trace_format.h describes. The files are a program's: what cannot be is where one ends.
 */
#pragma once

#include "assay.h"
#include "device/trace_format.h"

/* The launches of one kernel, from ranges of one name, on one device, by all processes. */
struct traced_kernel {
    int device;             /* index in trace.devices */
    const char *range;      /* "" none */
    const char *kernel;     /* mangled */
    struct trace_series is; /* of the first launch; its numbers mean nothing here */
    bool is_varied;         /* grid, block or shared memory were not the same in all launches */
    uint64_t count, total_ns, min_ns, max_ns;
    uint32_t level; /* of the durations (trace_keeps) */
    int duration_count;
    struct trace_duration *durations; /* process by process in order of launch */
};

struct trace {
    int device_count, kernel_count;
    struct trace_device *devices; /* that the processes saw, each UUID once */
    struct traced_kernel *kernels;
    int processes;                 /* that loaded the library */
    int cut;                       /* of them, whose files have no end: their last moments miss */
    uint64_t lost;                 /* launches whose records were lost */
    char failed[ASSAY_MAX_REASON]; /* why a process could not be recorded; "" */
};

/* All files of a folder. -1 with assay_error: no folder or memory. trace_release in any case. */
int trace_read(struct trace *trace, const char *folder);

/* Add what one file holds: `size` bytes. 0, or -1 with assay_error: out of memory. */
int trace_add(struct trace *trace, const char *bytes, size_t size);
void trace_release(struct trace *trace);
