/*
 * trace_cases.h - the cases of a trace: one per kernel and range, named so that the same kernel of
 * the same program has the same name in each run (docs/decisions.md). Pure.
 */
#pragma once

#include "case/run_record.h"
#include "device/profile.h"
#include "trace/trace_read.h"

struct trace_case {
    struct case_result result; /* operation: the program; variant: the kernel; shape: the range */
    const struct traced_kernel *kernel;
};

struct trace_cases {
    int count;
    struct trace_case *list; /* the one with most time in all first */
};

/* What a case's metrics are called in the store and in JSON: how often the kernel ran, and for how
 * long together. Samples are kept of some of these only. */
#define TRACE_COUNT    "count"
#define TRACE_TOTAL_NS "total_ns"

/* `program` is the cases' operation, `clock_reasons` what was seen while it ran.
 * trace_cases_release frees in any case; -1 with assay_error. */
int trace_cases_make(struct trace_cases *cases, const struct trace *trace, const char *program,
                     uint64_t clock_reasons);
void trace_cases_release(struct trace_cases *cases);

/* One launch of the case, which is one kernel: its whole name, grid, block, registers, and of its
 * times the shortest and the longest. */
void trace_case_profile(const struct trace_case *from, struct profile *profile);

/* The device with most of the kernels' time: an index in trace->devices, -1 without kernels. */
int trace_main_device(const struct trace *trace);

/* What is known of a device; the rest is unknown (-1, NAN, ""). */
void trace_device_info(const struct trace_device *device, struct device_info *info);
