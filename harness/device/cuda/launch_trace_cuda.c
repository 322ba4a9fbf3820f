/*
 * launch_trace_cuda.c - see launch_trace.h. (CUDA Driver API, 13.0; CUPTI's documentation: "CUPTI
 * Callback API".)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "device/cuda/host_words.h"
#include "device/cuda/launch_trace_parts.h"

struct launch_trace *launch_trace_new(trace_lookup *lookup, trace_plain *plain, trace_name *name)
{
    struct launch_trace *trace = calloc(1, sizeof *trace);
    if (trace) trace->name = name;
    if (trace) trace->acts = trace_acts_new(lookup, plain);
    if (trace) trace->modules = module_set_new();
    if (trace && trace->acts && trace->modules) return trace;
    launch_trace_free(trace);
    assay_error("out of memory for a trace");
    return NULL;
}

void launch_trace_free(struct launch_trace *trace)
{
    if (!trace) return;
    trace_acts_free(trace->acts);
    module_set_free(trace->modules);
    for (int i = 0; i < trace->name_count; i++)
        free(trace->names[i]);
    free(trace->names);
    free(trace);
}

/* By name, since a kernel is launched by another handle than it is set by. */
const void *launch_trace_key(struct launch_trace *trace, const char *name)
{
    if (!name) return NULL;
    for (int i = 0; i < trace->name_count; i++)
        if (strcmp(trace->names[i], name) == 0) return trace->names[i];
    char *copy = strdup(name);
    char **added =
        copy ? grow_add(&trace->names, &trace->name_count, sizeof *added, "names") : NULL;
    if (added) return *added = copy;
    free(copy);
    trace_acts_doubt(trace->acts, "out of memory for names");
    return NULL;
}

struct trace_acts *launch_trace_acts(struct launch_trace *trace)
{
    return trace->acts;
}

void launch_trace_module(struct launch_trace *trace, const void *cubin, size_t size)
{
    if (module_set_add(trace->modules, cubin, size) != 0)
        trace_acts_doubt(trace->acts, "out of memory for a module");
}

/* ------------------------------------------------------- copies and fills -- */

/* Where a copy comes from: what comes from the host counts by its bytes. And beside it, or the
 * width of a fill: it has a stream. */
enum source { FROM_HOST, FROM_DEVICE, FROM_EITHER };
enum { ON_STREAM = 16 };

static struct code_hash content_of(struct launch_trace *trace, const struct copy_call *call,
                                   enum source source)
{
    bool reads =
        source == FROM_HOST || (source == FROM_EITHER && !trace_is_device(trace->acts, call->from));
    if (!reads) return (struct code_hash){{0, 0}};
    trace_acts_read(trace->acts);
    if (host_words_readable(call->from, call->bytes))
        return trace_bytes(trace->acts, (const void *)(uintptr_t)call->from, call->bytes);
    trace_acts_doubt(trace->acts, "it copies from where the trace cannot read");
    return (struct code_hash){{0, 0}};
}

/* Of what goes to the host the host may make something. */
static void copy(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct copy_call *call = seen->parameters;
    struct trace_acts *acts = trace->acts;
    char from[TRACE_ADDRESS], to[TRACE_ADDRESS];
    trace_address(acts, call->from, from);
    trace_address(acts, call->to, to);
    if (!trace_is_device(acts, call->to)) trace_acts_host(acts);
    trace_act(acts, "copy of %zu bytes; to %s; from %s; holds %016" PRIx64 "; stream %d",
              call->bytes, to, from,
              content_of(trace, call, (enum source)(seen->how & ~ON_STREAM)).word[0],
              trace_handle(acts, seen->how & ON_STREAM ? call->stream : NULL));
}

static void fill(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct fill_call *call = seen->parameters;
    int width = seen->how & ~ON_STREAM;
    unsigned value = width == 1   ? call->value.of_8
                     : width == 2 ? call->value.of_16
                                  : call->value.of_32;
    char to[TRACE_ADDRESS];
    trace_address(trace->acts, call->to, to);
    trace_act(trace->acts, "fill of %zu times %d bytes; with %u; at %s; stream %d", call->count,
              width, value, to,
              trace_handle(trace->acts, seen->how & ON_STREAM ? call->stream : NULL));
}

/* ------------------------------------------------------- streams and time -- */

static void record_event(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct event_call *p = seen->parameters; /* that with flags begins alike */
    trace_act(trace->acts, "event %d; stream %d", trace_handle(trace->acts, p->event),
              trace_handle(trace->acts, p->stream));
}

static void wait_event(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct wait_call *p = seen->parameters;
    trace_act(trace->acts, "wait for event %d; stream %d; flags %u",
              trace_handle(trace->acts, p->event), trace_handle(trace->acts, p->stream), p->flags);
}

static void destroy(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct destroy_call *p = seen->parameters;
    trace_handle_gone(trace->acts, p->handle);
}

static void wait(struct launch_trace *trace, const struct seen_call *seen)
{
    (void)seen;
    trace_acts_waited(trace->acts);
}

/* A setup that times candidates would choose otherwise in each process. While it is traced the
 * times that it takes are those that trace_acts_timed gives: then it tries the same ones in each,
 * which are traced as all else is, and comes to the same choice. */
static void take_time(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct elapsed_call *p = seen->parameters;
    float ms = trace_acts_timed(trace->acts);
    if (ms > 0 && p->ms) *p->ms = ms;
}

static void make_stream(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct stream_call *p = seen->parameters;
    trace_act(trace->acts, "a new stream; flags %u; priority %d", p->flags,
              seen->how ? p->priority : 0);
}

/* --------------------------------------------------------------- settings -- */

/* Settings that are kept are told apart by these, beside the numbers of the driver. */
enum { SET_FUNCTION = 1000, SET_STREAM = 2000, SET_LIMIT = 3000, SET_CACHE = 4000 };

static void set(struct launch_trace *trace, const void *handle, bool is_kernel, int id, int value)
{
    const void *key = launch_trace_key(trace, trace->name(handle, is_kernel));
    trace_set(trace->acts, key, id, &value, sizeof value);
}

static void set_function(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct function_call *p = seen->parameters;
    set(trace, p->function, false, SET_FUNCTION + p->attribute, p->value);
}

static void set_kernel(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct kernel_call *p = seen->parameters;
    set(trace, p->kernel, true, SET_FUNCTION + p->attribute, p->value);
}

static void set_cache(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct cache_call *p = seen->parameters;
    set(trace, p->handle, seen->how, SET_CACHE, p->value);
}

static void set_limit(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct limit_call *p = seen->parameters;
    trace_set(trace->acts, NULL, SET_LIMIT + p->limit, &p->value, sizeof p->value);
}

static void set_stream(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct stream_attribute_call *p = seen->parameters;
    int bytes = trace_attribute_bytes(p->attribute);
    if (bytes < 0)
        trace_acts_doubt(trace->acts, "it sets attribute %d of a stream", (int)p->attribute);
    if (bytes > 0)
        trace_set(trace->acts, p->stream, SET_STREAM + (int)p->attribute, p->value, (size_t)bytes);
}

static void reset_lines(struct launch_trace *trace, const struct seen_call *seen)
{
    (void)seen;
    trace_act(trace->acts, "the persisting lines of L2 are reset");
}

/* ----------------------------------------------------------------- graphs -- */

static void begin_capture(struct launch_trace *trace, const struct seen_call *seen)
{
    (void)seen;
    trace_capture_begin(trace->acts);
}

static void end_capture(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct capture_call *p = seen->parameters;
    trace_capture_end(trace->acts, p->made ? *p->made : NULL);
}

static void make_graph(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct instantiate_call *p = seen->parameters; /* however it is told */
    if (p->made) trace_graph_made(trace->acts, p->graph, *p->made);
}

static void launch_graph(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct graph_call *p = seen->parameters;
    trace_graph_launched(trace->acts, p->graph, p->stream);
}

/* ------------------------------------------------------------------ calls -- */

/* When a call is followed: before it is made, or once it has ended, when what it made is known, and
 * the module of the kernel that it launched is loaded; between cases only if it holds on. */
enum moment { AT_BEGIN, AT_END, ALWAYS };

static const struct {
    const char *name;
    enum moment moment;
    follow_call *follow;
    int how; /* its own */
} followed[] = {
    {"cuLaunchKernel", AT_END, trace_kernel, 0},
    {"cuLaunchKernelEx", AT_END, trace_kernel_ex, 0},
    {"cuLaunchCooperativeKernel", AT_END, trace_cooperative, 0},
    {"cuMemcpyHtoD_v2", AT_BEGIN, copy, FROM_HOST},
    {"cuMemcpyHtoDAsync_v2", AT_BEGIN, copy, FROM_HOST | ON_STREAM},
    {"cuMemcpyDtoH_v2", AT_BEGIN, copy, FROM_DEVICE},
    {"cuMemcpyDtoHAsync_v2", AT_BEGIN, copy, FROM_DEVICE | ON_STREAM},
    {"cuMemcpyDtoD_v2", AT_BEGIN, copy, FROM_DEVICE},
    {"cuMemcpyDtoDAsync_v2", AT_BEGIN, copy, FROM_DEVICE | ON_STREAM},
    {"cuMemcpy", AT_BEGIN, copy, FROM_EITHER},
    {"cuMemcpyAsync", AT_BEGIN, copy, FROM_EITHER | ON_STREAM},
    {"cuMemsetD8_v2", AT_BEGIN, fill, 1},
    {"cuMemsetD8Async", AT_BEGIN, fill, 1 | ON_STREAM},
    {"cuMemsetD16Async", AT_BEGIN, fill, 2 | ON_STREAM},
    {"cuMemsetD32_v2", AT_BEGIN, fill, 4},
    {"cuMemsetD32Async", AT_BEGIN, fill, 4 | ON_STREAM},
    {"cuEventRecord", AT_BEGIN, record_event, 0},
    {"cuEventRecordWithFlags", AT_BEGIN, record_event, 0},
    {"cuStreamWaitEvent", AT_BEGIN, wait_event, 0},
    {"cuStreamSynchronize", AT_BEGIN, wait, 0},
    {"cuCtxSynchronize", AT_BEGIN, wait, 0},
    {"cuCtxSynchronize_v2", AT_BEGIN, wait, 0},
    {"cuEventSynchronize", AT_BEGIN, wait, 0},
    {"cuStreamQuery", AT_BEGIN, wait, 0},
    {"cuEventQuery", AT_BEGIN, wait, 0},
    {"cuEventElapsedTime", AT_END, take_time, 0},
    {"cuEventElapsedTime_v2", AT_END, take_time, 0},
    {"cuEventDestroy", AT_BEGIN, destroy, 0},
    {"cuEventDestroy_v2", AT_BEGIN, destroy, 0},
    {"cuStreamDestroy", AT_BEGIN, destroy, 0},
    {"cuStreamDestroy_v2", AT_BEGIN, destroy, 0},
    {"cuStreamCreate", AT_BEGIN, make_stream, 0},
    {"cuStreamCreateWithPriority", AT_BEGIN, make_stream, 1},
    {"cuFuncSetAttribute", ALWAYS, set_function, 0},
    {"cuKernelSetAttribute", ALWAYS, set_kernel, 0},
    {"cuFuncSetCacheConfig", ALWAYS, set_cache, 0},
    {"cuKernelSetCacheConfig", ALWAYS, set_cache, 1},
    {"cuCtxSetLimit", ALWAYS, set_limit, 0},
    {"cuStreamSetAttribute", ALWAYS, set_stream, 0},
    {"cuCtxResetPersistingL2Cache", AT_BEGIN, reset_lines, 0},
    {"cuStreamBeginCapture", AT_BEGIN, begin_capture, 0},
    {"cuStreamBeginCapture_v2", AT_BEGIN, begin_capture, 0},
    {"cuStreamEndCapture", AT_END, end_capture, 0},
    {"cuGraphInstantiate", AT_END, make_graph, 0},
    {"cuGraphInstantiate_v2", AT_END, make_graph, 0},
    {"cuGraphInstantiateWithFlags", AT_END, make_graph, 0},
    {"cuGraphInstantiateWithParams", AT_END, make_graph, 0},
    {"cuGraphLaunch", AT_BEGIN, launch_graph, 0},
};

/* What changes nothing of what runs: memory comes and goes, whose addresses are told where they are
 * used; modules, whose code is; events, which count when they are recorded. Asking is harmless
 * too. */
static bool is_harmless(const char *name)
{
    static const char *const begins[] = {"cuInit",
                                         "cuDriverGet",
                                         "cuCtxPush",
                                         "cuCtxPop",
                                         "cuCtxSetCurrent",
                                         "cuDevicePrimaryCtx",
                                         "cuDeviceTotalMem",
                                         "cuModuleLoad",
                                         "cuModuleUnload",
                                         "cuLibraryLoad",
                                         "cuLibraryEnumerate",
                                         "cuModuleEnumerate",
                                         "cuCoredump",
                                         "cuLibraryUnload",
                                         "cuFuncLoad",
                                         "cuFuncIsLoaded",
                                         "cuMemAlloc",
                                         "cuMemFree",
                                         "cuMemHostAlloc",
                                         "cuMemHostRegister",
                                         "cuMemHostUnregister",
                                         "cuMemPool",
                                         "cuMemAddress",
                                         "cuMemCreate",
                                         "cuMemMap",
                                         "cuMemUnmap",
                                         "cuMemSetAccess",
                                         "cuMemRelease",
                                         "cuEventCreate",
                                         "cuStreamIsCapturing",
                                         "cuThreadExchangeStreamCaptureMode",
                                         "cuTensorMapEncode",
                                         "cuProfiler",
                                         "cuLink",
                                         "cuGraphExecDestroy",
                                         "cuGraphDestroy",
                                         "cuGraphUpload",
                                         "cuOccupancy",
                                         "cuCtxEnablePeerAccess",
                                         "cuDeviceCanAccessPeer",
                                         "cuPointerGet",
                                         "cuLogs"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    /* cuDeviceGetAttribute, cuFuncGetName, cuMemGetInfo ... */
    static const char *const nouns[] = {"cuDevice",  "cuCtx",    "cuModule",  "cuFunc",
                                        "cuLibrary", "cuKernel", "cuPointer", "cuMem",
                                        "cuStream",  "cu"};
    for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++) {
        size_t length = strlen(nouns[i]);
        if (strncmp(name, nouns[i], length) == 0 && strncmp(name + length, "Get", 3) == 0)
            return true;
    }
    return false;
}

/* Calls by their names: those for a default stream per thread have an ending. */
void launch_trace_call(struct launch_trace *trace, const char *name, bool has_ended,
                       const void *parameters, const char *kernel)
{
    char plain[64];
    snprintf(plain, sizeof plain, "%s", name);
    size_t length = strlen(plain);
    if (length > 5 &&
        (!strcmp(plain + length - 5, "_ptsz") || !strcmp(plain + length - 5, "_ptds")))
        plain[length - 5] = '\0';
    for (size_t i = 0; i < sizeof followed / sizeof followed[0]; i++) {
        if (strcmp(plain, followed[i].name) != 0) continue;
        bool is_now = (followed[i].moment == AT_END) == has_ended;
        if (is_now && (followed[i].moment == ALWAYS || trace_acts_open(trace->acts)))
            followed[i].follow(trace, &(struct seen_call){parameters, kernel, followed[i].how});
        return;
    }
    if (!has_ended && !is_harmless(plain) && trace_acts_open(trace->acts))
        trace_acts_doubt(trace->acts, "it calls %s, which is not followed", plain);
}
