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
#include "device/cuda/counters.h"

#if __has_include(<cupti_range_profiler.h>)

#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/counters_api.h"
#include "device/cuda/cupti_library.h"

/* An opaque byte array that CUPTI fills. */
struct image {
    uint8_t *bytes;
    size_t size;
};

struct counters {
    struct counters_api api;
    bool initialized;
    void *host;
    CUpti_RangeProfiler_Object *profiler;
    struct image availability, config, data;
    int passes, max_ranges;
    enum counters_range range;
    int asked;          /* number of metrics asked for */
    const char **names; /* their names; borrowed strings */
    int count;          /* number of metrics that this GPU has */
    const char **known;
    int *place; /* index of known[i] in `names` */
};

static int make_image(struct image *image, size_t size)
{
    free(image->bytes);
    image->bytes = calloc(size ? size : 1, 1);
    image->size = image->bytes ? size : 0;
    return image->bytes ? 0 : assay_error("out of memory for counters");
}

/* ------------------------------------------------------------- the host -- */

static int read_availability(struct counters *counters)
{
    CUpti_Profiler_GetCounterAvailability_Params params = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
    if (cupti_check(counters->api.availability(&params), "cuptiProfilerGetCounterAvailability") ||
        make_image(&counters->availability, params.counterAvailabilityImageSize))
        return -1;
    params.pCounterAvailabilityImage = counters->availability.bytes;
    return cupti_check(counters->api.availability(&params), "cuptiProfilerGetCounterAvailability");
}

static int open_host(struct counters *counters, int device)
{
    CUpti_Device_GetChipName_Params chip = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE, .deviceIndex = (size_t)device};
    if (cupti_check(counters->api.chip_name(&chip), "cuptiDeviceGetChipName")) return -1;
    struct host_initialize params = {.size = sizeof params,
                                     .profiler = HOST_RANGE_PROFILER,
                                     .chip = chip.pChipName,
                                     .availability = counters->availability.bytes};
    if (cupti_check(counters->api.host_initialize(&params), "cuptiProfilerHostInitialize"))
        return -1;
    counters->host = params.host;
    return 0;
}

static bool is_known(const struct counters *counters, const char *name)
{
    struct host_metric params = {.size = offsetof(struct host_metric, type) + sizeof params.type,
                                 .host = counters->host,
                                 .name = name};
    return counters->api.host_metric(&params) == CUPTI_SUCCESS;
}

/* One by one, because CUPTI refuses all metrics of a call if it refuses one. */
static int add_metrics(struct counters *counters)
{
    for (int i = 0; i < counters->asked; i++) {
        if (!is_known(counters, counters->names[i])) continue;
        struct host_add_metrics params = {.size = sizeof params,
                                          .host = counters->host,
                                          .names = &counters->names[i],
                                          .count = 1};
        if (counters->api.host_add_metrics(&params) != CUPTI_SUCCESS) continue;
        counters->place[counters->count] = i;
        counters->known[counters->count++] = counters->names[i];
    }
    return counters->count ? 0 : assay_error("this GPU knows none of the counters asked for");
}

static int make_config(struct counters *counters)
{
    const struct counters_api *api = &counters->api;
    struct host_config_size size = {.size = sizeof size, .host = counters->host};
    if (cupti_check(api->host_config_size(&size), "cuptiProfilerHostGetConfigImageSize") ||
        make_image(&counters->config, size.bytes))
        return -1;
    struct host_config config = {.size = sizeof config,
                                 .host = counters->host,
                                 .bytes = counters->config.size,
                                 .image = counters->config.bytes};
    if (cupti_check(api->host_config(&config), "cuptiProfilerHostGetConfigImage")) return -1;
    struct host_passes passes = {
        .size = sizeof passes, .bytes = counters->config.size, .image = counters->config.bytes};
    if (cupti_check(api->host_passes(&passes), "cuptiProfilerHostGetNumOfPasses")) return -1;
    counters->passes = (int)passes.passes;
    return 0;
}

/* ------------------------------------------------------------ the device -- */

/* The context that the CUDA runtime created. Only the runtime is linked; the driver library,
 * which has this function, is loaded by now. */
static int current_context(CUcontext *context)
{
    CUresult (*get_current)(CUcontext *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, "cuCtxGetCurrent") : NULL;
    memcpy(&get_current, &symbol, sizeof get_current);
    *context = NULL;
    bool found = get_current && get_current(context) == CUDA_SUCCESS && *context;
    if (driver) dlclose(driver);
    return found ? 0 : assay_error("no CUDA context to read counters of");
}

static int enable(struct counters *counters)
{
    CUpti_RangeProfiler_Enable_Params params = {.structSize =
                                                    CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
    if (current_context(&params.ctx) ||
        cupti_check(counters->api.enable(&params), "cuptiRangeProfilerEnable"))
        return -1;
    counters->profiler = params.pRangeProfilerObject;
    return 0;
}

static int make_data(struct counters *counters)
{
    const struct counters_api *api = &counters->api;
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = counters->profiler,
        .pMetricNames = counters->known,
        .numMetrics = (size_t)counters->count,
        .maxNumOfRanges = (size_t)counters->max_ranges,
        .maxNumRangeTreeNodes = (uint32_t)counters->max_ranges,
    };
    if (cupti_check(api->data_size(&size), "cuptiRangeProfilerGetCounterDataSize") ||
        make_image(&counters->data, size.counterDataSize))
        return -1;
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params params = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = counters->profiler,
        .counterDataSize = counters->data.size,
        .pCounterData = counters->data.bytes,
    };
    return cupti_check(api->data_initialize(&params),
                       "cuptiRangeProfilerCounterDataImageInitialize");
}

static int configure(struct counters *counters)
{
    CUpti_RangeProfiler_SetConfig_Params params = {
        .structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
        .pRangeProfilerObject = counters->profiler,
        .configSize = counters->config.size,
        .pConfig = counters->config.bytes,
        .counterDataImageSize = counters->data.size,
        .pCounterDataImage = counters->data.bytes,
        .range = counters->range == COUNTERS_WHOLE_LAUNCH ? CUPTI_UserRange : CUPTI_AutoRange,
        .replayMode = CUPTI_UserReplay,
        .maxRangesPerPass = (size_t)counters->max_ranges,
        .numNestingLevels = 1,
        .minNestingLevel = 1,
        .passIndex = 0,
        .targetNestingLevel = 1,
    };
    return cupti_check(counters->api.set_config(&params), "cuptiRangeProfilerSetConfig");
}

/* --------------------------------------------------------------- opening -- */

static struct counters *make(const char *const *names, int count, int max_ranges)
{
    struct counters *counters = calloc(1, sizeof *counters);
    if (counters == NULL) return NULL;
    size_t slots = (size_t)count + 1;
    counters->names = calloc(slots, sizeof *counters->names);
    counters->known = calloc(slots, sizeof *counters->known);
    counters->place = calloc(slots, sizeof *counters->place);
    counters->asked = count;
    counters->max_ranges = max_ranges;
    if (counters->names && counters->known && counters->place) {
        memcpy(counters->names, names, (size_t)count * sizeof *names);
        return counters;
    }
    counters_close(counters);
    return NULL;
}

static int initialize(struct counters *counters)
{
    CUpti_Profiler_Initialize_Params params = {.structSize =
                                                   CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    if (counters_api_load(&counters->api) < 0) return -1;
    if (cupti_check(counters->api.initialize(&params), "cuptiProfilerInitialize")) return -1;
    counters->initialized = true;
    return 0;
}

int counters_open(struct counters **out, const char *const *names, int count, int device,
                  enum counters_range range, int max_ranges)
{
    struct counters *counters = make(names, count, max_ranges);
    *out = NULL;
    if (counters == NULL) return assay_error("out of memory for counters");
    counters->range = range;
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
    if (counters == NULL) return;
    if (counters->profiler) {
        CUpti_RangeProfiler_Disable_Params params = {
            .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
            .pRangeProfilerObject = counters->profiler};
        counters->api.disable(&params);
    }
    if (counters->host) {
        struct host_deinitialize params = {.size = sizeof params, .host = counters->host};
        counters->api.host_deinitialize(&params);
    }
    if (counters->initialized) {
        CUpti_Profiler_DeInitialize_Params params = {
            .structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};
        counters->api.deinitialize(&params);
    }
    free(counters->availability.bytes);
    free(counters->config.bytes);
    free(counters->data.bytes);
    free(counters->names);
    free(counters->known);
    free(counters->place);
    free(counters);
}

/* ---------------------------------------------------------------- passes -- */

int counters_passes(const struct counters *counters)
{
    return counters->passes;
}

int counters_begin(struct counters *counters)
{
    CUpti_RangeProfiler_Start_Params params = {.structSize =
                                                   CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                               .pRangeProfilerObject = counters->profiler};
    if (cupti_check(counters->api.start(&params), "cuptiRangeProfilerStart")) return -1;
    if (counters->range == COUNTERS_EACH_KERNEL) return 0;
    CUpti_RangeProfiler_PushRange_Params push = {
        .structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
        .pRangeProfilerObject = counters->profiler,
        .pRangeName = "launch"};
    return cupti_check(counters->api.push(&push), "cuptiRangeProfilerPushRange");
}

int counters_end(struct counters *counters, bool *done)
{
    CUpti_RangeProfiler_Stop_Params params = {.structSize =
                                                  CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = counters->profiler};
    CUpti_RangeProfiler_PopRange_Params pop = {.structSize =
                                                   CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
                                               .pRangeProfilerObject = counters->profiler};
    if (counters->range == COUNTERS_WHOLE_LAUNCH &&
        cupti_check(counters->api.pop(&pop), "cuptiRangeProfilerPopRange"))
        return -1;
    if (cupti_check(counters->api.stop(&params), "cuptiRangeProfilerStop")) return -1;
    *done = params.isAllPassSubmitted;
    return 0;
}

static int decode(struct counters *counters, int *ranges)
{
    CUpti_RangeProfiler_DecodeData_Params params = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
        .pRangeProfilerObject = counters->profiler};
    if (cupti_check(counters->api.decode(&params), "cuptiRangeProfilerDecodeData")) return -1;
    if (params.numOfRangeDropped > 0)
        return assay_error("CUPTI dropped the counters of %zu kernels", params.numOfRangeDropped);
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = counters->data.bytes,
        .counterDataImageSize = counters->data.size};
    if (cupti_check(counters->api.data_info(&info), "cuptiRangeProfilerGetCounterDataInfo"))
        return -1;
    *ranges = info.numTotalRanges < (size_t)counters->max_ranges ? (int)info.numTotalRanges
                                                                 : counters->max_ranges;
    return 0;
}

/* One metric at a time, so that one that cannot be evaluated does not cost the others. */
static double evaluate(struct counters *counters, int range, const char *name)
{
    double value = NAN;
    struct host_evaluate params = {.size = sizeof params,
                                   .host = counters->host,
                                   .data = counters->data.bytes,
                                   .data_bytes = counters->data.size,
                                   .range = (size_t)range,
                                   .names = &name,
                                   .count = 1,
                                   .values = &value};
    return counters->api.host_evaluate(&params) == CUPTI_SUCCESS && isfinite(value) ? value : NAN;
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

#endif
