/*
 * launch_trace_parts.h - shared by launch_trace_cuda.c (which call is what) and
 * launch_trace_kernel_cuda.c (launches of kernels).
 */
#pragma once

#include "device/cuda/driver_calls.h"
#include "device/cuda/launch_trace.h"
#include "device/cuda/module_set.h"

struct launch_trace {
    struct trace_acts *acts;
    struct module_set *modules;
    trace_name *name;
    char **names; /* of kernels that settings were made of */
    int name_count;
};

/* What stands for a kernel of this name where settings are kept; NULL for none. */
const void *launch_trace_key(struct launch_trace *trace, const char *name);

/* A call as it was seen. */
struct seen_call {
    const void *parameters; /* driver_calls.h */
    const char *kernel;     /* of a launch: the linker's name */
    int how;                /* what tells it from others that are followed alike */
};
typedef void follow_call(struct launch_trace *trace, const struct seen_call *seen);
follow_call trace_kernel, trace_kernel_ex, trace_cooperative;

/* How many bytes of a launch's or a stream's attribute count; -1: it is not understood. */
int trace_attribute_bytes(CUlaunchAttributeID id);
