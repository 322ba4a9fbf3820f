/*
 * counters_cuda.c - calls CUPTI in this order:
 *
 *   counter availability   which counters this user may read on this GPU
 *   host object            metrics by name -> a config image (which hardware
 *                          counters in which pass)
 *   range profiler         config image -> counter data image, pass by pass
 *   evaluation             counter data image -> values, range by range
 */
#include "assay.h"
#include "base/library.h"
#include "device/cuda/counters.h"
#include "device/cuda/cupti_library.h"
#include "device/profile.h"

#if __has_include(<cupti_range_profiler.h>)

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of CUPTI that are called, loaded at run time. */
/* clang-format off */
#define EACH_CALL(each) \
    each(cuptiProfilerInitialize) \
    each(cuptiProfilerDeInitialize) \
    each(cuptiProfilerGetCounterAvailability) \
    each(cuptiDeviceGetChipName) \
    each(cuptiProfilerHostInitialize) \
    each(cuptiProfilerHostDeinitialize) \
    each(cuptiProfilerHostGetMetricProperties) \
    each(cuptiProfilerHostConfigAddMetrics) \
    each(cuptiProfilerHostGetConfigImageSize) \
    each(cuptiProfilerHostGetConfigImage) \
    each(cuptiProfilerHostGetNumOfPasses) \
    each(cuptiProfilerHostEvaluateToGpuValues) \
    each(cuptiRangeProfilerEnable) \
    each(cuptiRangeProfilerDisable) \
    each(cuptiRangeProfilerGetCounterDataSize) \
    each(cuptiRangeProfilerCounterDataImageInitialize) \
    each(cuptiRangeProfilerSetConfig) \
    each(cuptiRangeProfilerStart) \
    each(cuptiRangeProfilerStop) \
    each(cuptiRangeProfilerPushRange) \
    each(cuptiRangeProfilerPopRange) \
    each(cuptiRangeProfilerDecodeData) \
    each(cuptiRangeProfilerGetCounterDataInfo)
/* clang-format on */

#define MEMBER(name) __typeof__(&name) name;
struct api {
    EACH_CALL(MEMBER)
};
static const struct library_symbol api_symbols[] = {EACH_CALL(LIBRARY_NAME)};
#undef MEMBER

/* 0, or -1 with assay_error. */
#define CALL(counters, name, params) cupti_check((counters)->api.name(params), #name)

/* The parameters of a call, which begin with their size, NULL, and the object of the call. */
#define PARAMS(call, params, object)                                                               \
    CUpti_##call##_Params params = {CUpti_##call##_Params_STRUCT_SIZE, NULL, object}

struct image {
    uint8_t *bytes;
    size_t size;
};

struct counters {
    struct api api;
    bool initialized;
    CUpti_Profiler_Host_Object *host;
    CUpti_RangeProfiler_Object *profiler;
    struct image availability, config, data;
    int passes, max_ranges;
    enum counters_range range;
    int asked; /* number of metrics asked for */
    const char *names[PROFILE_MAX_COUNTERS];
    int count; /* number of metrics that this GPU has */
    const char *known[PROFILE_MAX_COUNTERS];
    int place[PROFILE_MAX_COUNTERS]; /* index of known[i] in `names` */
};

static int make_image(struct image *image, size_t size)
{
    image->bytes = (uint8_t *)calloc(size ? size : 1, 1);
    image->size = image->bytes ? size : 0;
    return image->bytes ? 0 : assay_error("out of memory for counters");
}

/* ------------------------------------------------------------- the host -- */

static int initialize(struct counters *counters)
{
    CUpti_Profiler_Initialize_Params params = {CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    void *library = cupti_library();
    if (library == NULL || library_bind(library, api_symbols,
                                        sizeof api_symbols / sizeof *api_symbols, &counters->api))
        return -1;
    if (CALL(counters, cuptiProfilerInitialize, &params)) return -1;
    counters->initialized = true;
    return 0;
}

static int read_availability(struct counters *counters)
{
    PARAMS(Profiler_GetCounterAvailability, params, NULL);
    if (CALL(counters, cuptiProfilerGetCounterAvailability, &params) ||
        make_image(&counters->availability, params.counterAvailabilityImageSize))
        return -1;
    params.pCounterAvailabilityImage = counters->availability.bytes;
    return CALL(counters, cuptiProfilerGetCounterAvailability, &params);
}

static int open_host(struct counters *counters, int device)
{
    PARAMS(Device_GetChipName, chip, (size_t)device);
    if (CALL(counters, cuptiDeviceGetChipName, &chip)) return -1;
    PARAMS(Profiler_Host_Initialize, params, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
    params.pChipName = chip.pChipName;
    params.pCounterAvailabilityImage = counters->availability.bytes;
    if (CALL(counters, cuptiProfilerHostInitialize, &params)) return -1;
    counters->host = params.pHostObject;
    return 0;
}

/* One by one, because CUPTI refuses all metrics of a call if it refuses one. */
static int add_metrics(struct counters *counters)
{
    for (int i = 0; i < counters->asked; i++) {
        PARAMS(Profiler_Host_GetMetricProperties, metric, counters->host);
        metric.pMetricName = counters->names[i];
        PARAMS(Profiler_Host_ConfigAddMetrics, params, counters->host);
        params.ppMetricNames = &counters->names[i];
        params.numMetrics = 1;
        if (counters->api.cuptiProfilerHostGetMetricProperties(&metric) != CUPTI_SUCCESS ||
            counters->api.cuptiProfilerHostConfigAddMetrics(&params) != CUPTI_SUCCESS)
            continue;
        counters->place[counters->count] = i;
        counters->known[counters->count++] = counters->names[i];
    }
    return counters->count ? 0 : assay_error("this GPU knows none of the counters asked for");
}

static int make_config(struct counters *counters)
{
    struct image *config = &counters->config;
    PARAMS(Profiler_Host_GetConfigImageSize, size, counters->host);
    if (CALL(counters, cuptiProfilerHostGetConfigImageSize, &size) ||
        make_image(config, size.configImageSize))
        return -1;
    PARAMS(Profiler_Host_GetConfigImage, params, counters->host);
    params.configImageSize = config->size;
    params.pConfigImage = config->bytes;
    if (CALL(counters, cuptiProfilerHostGetConfigImage, &params)) return -1;
    PARAMS(Profiler_Host_GetNumOfPasses, passes, config->size);
    passes.pConfigImage = config->bytes;
    if (CALL(counters, cuptiProfilerHostGetNumOfPasses, &passes)) return -1;
    counters->passes = (int)passes.numOfPasses;
    return 0;
}

/* ------------------------------------------------------------ the device -- */

/* The context that the CUDA runtime created. Only the runtime is linked; the driver library,
 * which has this function, is loaded by now. */
static int current_context(CUcontext *context)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    __typeof__(&cuCtxGetCurrent) get_current = NULL;
    if (driver) *(void **)&get_current = dlsym(driver, "cuCtxGetCurrent");
    *context = NULL;
    bool found = get_current && get_current(context) == CUDA_SUCCESS && *context;
    if (driver) dlclose(driver);
    return found ? 0 : assay_error("no CUDA context to read counters of");
}

static int enable(struct counters *counters)
{
    PARAMS(RangeProfiler_Enable, params, NULL);
    if (current_context(&params.ctx) || CALL(counters, cuptiRangeProfilerEnable, &params))
        return -1;
    counters->profiler = params.pRangeProfilerObject;
    return 0;
}

static int make_data(struct counters *counters)
{
    struct image *data = &counters->data;
    PARAMS(RangeProfiler_GetCounterDataSize, size, counters->profiler);
    size.pMetricNames = counters->known;
    size.numMetrics = (size_t)counters->count;
    size.maxNumOfRanges = (size_t)counters->max_ranges;
    size.maxNumRangeTreeNodes = (uint32_t)counters->max_ranges;
    if (CALL(counters, cuptiRangeProfilerGetCounterDataSize, &size) ||
        make_image(data, size.counterDataSize))
        return -1;
    PARAMS(RangeProfiler_CounterDataImage_Initialize, params, counters->profiler);
    params.counterDataSize = data->size;
    params.pCounterData = data->bytes;
    return CALL(counters, cuptiRangeProfilerCounterDataImageInitialize, &params);
}

static int configure(struct counters *counters)
{
    bool whole = counters->range == COUNTERS_WHOLE_LAUNCH;
    PARAMS(RangeProfiler_SetConfig, params, counters->profiler);
    params.configSize = counters->config.size;
    params.pConfig = counters->config.bytes;
    params.counterDataImageSize = counters->data.size;
    params.pCounterDataImage = counters->data.bytes;
    params.range = whole ? CUPTI_UserRange : CUPTI_AutoRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = (size_t)counters->max_ranges;
    params.numNestingLevels = params.minNestingLevel = params.targetNestingLevel = 1;
    return CALL(counters, cuptiRangeProfilerSetConfig, &params);
}

/* --------------------------------------------------------------- opening -- */

int counters_open(struct counters **out, const char *const *names, int count, int device,
                  enum counters_range range, int max_ranges)
{
    struct counters *counters = (struct counters *)calloc(1, sizeof *counters);
    *out = NULL;
    if (counters == NULL || count > PROFILE_MAX_COUNTERS) {
        free(counters);
        return assay_error("out of memory for %d counters", count);
    }
    memcpy(counters->names, names, (size_t)count * sizeof *names);
    counters->asked = count;
    counters->range = range;
    counters->max_ranges = max_ranges;
    if (initialize(counters) || read_availability(counters) || open_host(counters, device) ||
        add_metrics(counters) || make_config(counters) || enable(counters) || make_data(counters) ||
        configure(counters)) {
        counters_close(counters);
        return -1;
    }
    *out = counters;
    return 0;
}

/* Errors are ignored: the session ends in any case. */
void counters_close(struct counters *counters)
{
    PARAMS(RangeProfiler_Disable, disable, counters->profiler);
    PARAMS(Profiler_Host_Deinitialize, host, counters->host);
    CUpti_Profiler_DeInitialize_Params end = {CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};
    if (counters->profiler) counters->api.cuptiRangeProfilerDisable(&disable);
    if (counters->host) counters->api.cuptiProfilerHostDeinitialize(&host);
    if (counters->initialized) counters->api.cuptiProfilerDeInitialize(&end);
    free(counters->availability.bytes);
    free(counters->config.bytes);
    free(counters->data.bytes);
    free(counters);
}

/* ---------------------------------------------------------------- passes -- */

int counters_passes(const struct counters *counters)
{
    return counters->passes;
}

int counters_begin(struct counters *counters)
{
    PARAMS(RangeProfiler_Start, params, counters->profiler);
    PARAMS(RangeProfiler_PushRange, push, counters->profiler);
    push.pRangeName = "launch";
    if (CALL(counters, cuptiRangeProfilerStart, &params)) return -1;
    if (counters->range == COUNTERS_EACH_KERNEL) return 0;
    return CALL(counters, cuptiRangeProfilerPushRange, &push);
}

int counters_end(struct counters *counters, bool *done)
{
    PARAMS(RangeProfiler_Stop, params, counters->profiler);
    PARAMS(RangeProfiler_PopRange, pop, counters->profiler);
    if (counters->range == COUNTERS_WHOLE_LAUNCH &&
        CALL(counters, cuptiRangeProfilerPopRange, &pop))
        return -1;
    if (CALL(counters, cuptiRangeProfilerStop, &params)) return -1;
    *done = params.isAllPassSubmitted;
    return 0;
}

static int decode(struct counters *counters, int *ranges)
{
    PARAMS(RangeProfiler_DecodeData, params, counters->profiler);
    if (CALL(counters, cuptiRangeProfilerDecodeData, &params)) return -1;
    if (params.numOfRangeDropped > 0)
        return assay_error("CUPTI dropped the counters of %zu kernels", params.numOfRangeDropped);
    PARAMS(RangeProfiler_GetCounterDataInfo, info, counters->data.bytes);
    info.counterDataImageSize = counters->data.size;
    if (CALL(counters, cuptiRangeProfilerGetCounterDataInfo, &info)) return -1;
    *ranges = info.numTotalRanges < (size_t)counters->max_ranges ? (int)info.numTotalRanges
                                                                 : counters->max_ranges;
    return 0;
}

/* One metric at a time, so that one that cannot be evaluated does not cost the others. */
static double evaluate(struct counters *counters, int range, const char *name)
{
    double value = NAN;
    PARAMS(Profiler_Host_EvaluateToGpuValues, params, counters->host);
    params.pCounterDataImage = counters->data.bytes;
    params.counterDataImageSize = counters->data.size;
    params.rangeIndex = (size_t)range;
    params.ppMetricNames = &name;
    params.numMetrics = 1;
    params.pMetricValues = &value;
    CUptiResult result = counters->api.cuptiProfilerHostEvaluateToGpuValues(&params);
    return result == CUPTI_SUCCESS && isfinite(value) ? value : NAN;
}

int counters_read(struct counters *counters, double *values, int *ranges)
{
    if (decode(counters, ranges)) return -1;
    for (int range = 0; range < *ranges; range++) {
        double *row = values + (size_t)range * (size_t)counters->asked;
        for (int i = 0; i < counters->asked; i++)
            row[i] = NAN;
        for (int i = 0; i < counters->count; i++)
            row[counters->place[i]] = evaluate(counters, range, counters->known[i]);
    }
    return 0;
}

void counters_unknown(const struct counters *counters, char *out, size_t size)
{
    size_t used = 0;
    int next = 0;
    out[0] = '\0';
    for (int i = 0; i < counters->asked; i++) {
        if (next < counters->count && counters->place[next] == i) {
            next++;
        } else if (used < size) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
                                     counters->names[i]);
        }
    }
}

#else /* no range profiler: nothing opens, so nothing else is called */

int counters_open(struct counters **out, const char *const *names, int count, int device,
                  enum counters_range range, int max_ranges)
{
    (void)names, (void)count, (void)device, (void)range, (void)max_ranges;
    *out = NULL;
    return assay_error("built without CUPTI's range profiler (CUDA 12.6 or later)");
}

#endif
