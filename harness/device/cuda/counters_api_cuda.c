#if __has_include(<cupti_range_profiler.h>)

#include "device/cuda/counters_api.h"

#include <cuda.h>
#include <stddef.h>

#include "base/library.h"
#include "device/cuda/cupti_library.h"

#define AT(member) offsetof(struct counters_api, member)
static const struct library_symbol api_symbols[] = {
    {"cuptiProfilerInitialize", NULL, AT(initialize), false},
    {"cuptiProfilerDeInitialize", NULL, AT(deinitialize), false},
    {"cuptiProfilerGetCounterAvailability", NULL, AT(availability), false},
    {"cuptiDeviceGetChipName", NULL, AT(chip_name), false},
    {"cuptiProfilerHostInitialize", NULL, AT(host_initialize), false},
    {"cuptiProfilerHostDeinitialize", NULL, AT(host_deinitialize), false},
    {"cuptiProfilerHostGetMetricProperties", NULL, AT(host_metric), false},
    {"cuptiProfilerHostConfigAddMetrics", NULL, AT(host_add_metrics), false},
    {"cuptiProfilerHostGetConfigImageSize", NULL, AT(host_config_size), false},
    {"cuptiProfilerHostGetConfigImage", NULL, AT(host_config), false},
    {"cuptiProfilerHostGetNumOfPasses", NULL, AT(host_passes), false},
    {"cuptiProfilerHostEvaluateToGpuValues", NULL, AT(host_evaluate), false},
    {"cuptiRangeProfilerEnable", NULL, AT(enable), false},
    {"cuptiRangeProfilerDisable", NULL, AT(disable), false},
    {"cuptiRangeProfilerGetCounterDataSize", NULL, AT(data_size), false},
    {"cuptiRangeProfilerCounterDataImageInitialize", NULL, AT(data_initialize), false},
    {"cuptiRangeProfilerSetConfig", NULL, AT(set_config), false},
    {"cuptiRangeProfilerStart", NULL, AT(start), false},
    {"cuptiRangeProfilerStop", NULL, AT(stop), false},
    {"cuptiRangeProfilerPushRange", NULL, AT(push), false},
    {"cuptiRangeProfilerPopRange", NULL, AT(pop), false},
    {"cuptiRangeProfilerDecodeData", NULL, AT(decode), false},
    {"cuptiRangeProfilerGetCounterDataInfo", NULL, AT(data_info), false},
};
#undef AT

int counters_api_load(struct counters_api *api)
{
    void *library = cupti_library();
    if (library == NULL) return -1;
    return library_bind(library, api_symbols, sizeof api_symbols / sizeof *api_symbols, api);
}

#endif
