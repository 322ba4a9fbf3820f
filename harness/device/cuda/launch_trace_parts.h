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
};

/* What follows a call: its parameters (driver_calls.h), and of a launch the linker's name. */
typedef void follow_call(struct launch_trace *trace, const void *parameters, const char *kernel);
follow_call trace_kernel, trace_kernel_ex, trace_cooperative;

/* How many bytes of a launch's or a stream's attribute count; -1: it is not understood. */
int trace_attribute_bytes(CUlaunchAttributeID id);
