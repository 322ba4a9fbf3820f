/*
 * launch_trace.h - follows the calls of the driver's interface and the modules that are loaded, and
 * makes of them what a case did (trace_acts.h): launches with the machine code, attributes and
 * arguments of each, copies, settings, captured graphs. A call that is not understood leaves the
 * case in doubt.
 */
#pragma once

#include "device/cuda/trace_acts.h"

struct launch_trace;

/* The linker's name of a kernel, by its handle: a CUkernel, or a CUfunction; NULL: not known, and
 * what is set of it counts for all kernels. */
typedef const char *trace_name(const void *handle, bool is_kernel);

/* NULL with assay_error. */
struct launch_trace *launch_trace_new(trace_lookup *lookup, trace_plain *plain, trace_name *name);
void launch_trace_free(struct launch_trace *trace);

struct trace_acts *launch_trace_acts(struct launch_trace *trace);

/* A module was loaded. */
void launch_trace_module(struct launch_trace *trace, const void *cubin, size_t size);

/* A call begins, or has ended: its name ("cuLaunchKernel"), its parameters as CUPTI has them
 * (generated_cuda_meta.h), and of a launch the linker's name of the kernel. */
void launch_trace_call(struct launch_trace *trace, const char *name, bool has_ended,
                       const void *parameters, const char *kernel);
