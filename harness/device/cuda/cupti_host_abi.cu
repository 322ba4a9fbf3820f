/* cupti_host_abi.cu - checks cupti_host_abi.h against CUPTI's header. No code. */
#include "device/cuda/cupti_host_abi.h"

#if __has_include(<cupti_profiler_host.h>)
#include <cupti_profiler_host.h>

#define SAME_SIZE(ours, theirs, last)                                                              \
    static_assert(sizeof(struct ours) >= CUPTI_PROFILER_STRUCT_SIZE(theirs, last) &&               \
                      sizeof(struct ours) <= sizeof(theirs),                                       \
                  #ours " is not " #theirs)
#define SAME_PLACE(ours, field, theirs, their_field)                                               \
    static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field),                   \
                  #ours "." #field " has moved")

SAME_SIZE(host_initialize, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_PLACE(host_initialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_PLACE(host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_PLACE(host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage);
SAME_PLACE(host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
static_assert((int)HOST_RANGE_PROFILER == (int)CUPTI_PROFILER_TYPE_RANGE_PROFILER,
              "the range profiler");

SAME_SIZE(host_deinitialize, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_PLACE(host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);

SAME_SIZE(host_add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_PLACE(host_add_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME_PLACE(host_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_PLACE(host_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);

SAME_SIZE(host_config_size, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME_PLACE(host_config_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
SAME_PLACE(host_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);

SAME_SIZE(host_config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_PLACE(host_config, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
SAME_PLACE(host_config, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_PLACE(host_config, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);

SAME_SIZE(host_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME_PLACE(host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME_PLACE(host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_PLACE(host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);

SAME_SIZE(host_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME_PLACE(host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
SAME_PLACE(host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME_PLACE(host_evaluate, data_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           counterDataImageSize);
SAME_PLACE(host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME_PLACE(host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME_PLACE(host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_PLACE(host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

SAME_SIZE(host_metric, CUpti_Profiler_Host_GetMetricProperties_Params, metricType);
SAME_PLACE(host_metric, host, CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject);
SAME_PLACE(host_metric, name, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName);
SAME_PLACE(host_metric, type, CUpti_Profiler_Host_GetMetricProperties_Params, metricType);

#endif
