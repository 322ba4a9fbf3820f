/*
 * counters_api.h - CUPTI's functions for hardware counters, loaded at run time. Requires
 * <cupti_range_profiler.h> (CUDA 12.6 or later).
 */
#ifndef COUNTERS_API_H
#define COUNTERS_API_H

#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "device/cuda/cupti_host_abi.h"

struct counters_api {
    __typeof__(cuptiProfilerInitialize) *initialize;
    __typeof__(cuptiProfilerDeInitialize) *deinitialize;
    __typeof__(cuptiProfilerGetCounterAvailability) *availability;
    __typeof__(cuptiDeviceGetChipName) *chip_name;
    CUptiResult (*host_initialize)(struct host_initialize *params);
    CUptiResult (*host_deinitialize)(struct host_deinitialize *params);
    CUptiResult (*host_metric)(struct host_metric *params);
    CUptiResult (*host_add_metrics)(struct host_add_metrics *params);
    CUptiResult (*host_config_size)(struct host_config_size *params);
    CUptiResult (*host_config)(struct host_config *params);
    CUptiResult (*host_passes)(struct host_passes *params);
    CUptiResult (*host_evaluate)(struct host_evaluate *params);
    __typeof__(cuptiRangeProfilerEnable) *enable;
    __typeof__(cuptiRangeProfilerDisable) *disable;
    __typeof__(cuptiRangeProfilerGetCounterDataSize) *data_size;
    __typeof__(cuptiRangeProfilerCounterDataImageInitialize) *data_initialize;
    __typeof__(cuptiRangeProfilerSetConfig) *set_config;
    __typeof__(cuptiRangeProfilerStart) *start;
    __typeof__(cuptiRangeProfilerStop) *stop;
    __typeof__(cuptiRangeProfilerPushRange) *push;
    __typeof__(cuptiRangeProfilerPopRange) *pop;
    __typeof__(cuptiRangeProfilerDecodeData) *decode;
    __typeof__(cuptiRangeProfilerGetCounterDataInfo) *data_info;
};

/* Fill it from cupti_library(). -1 with assay_error when the library or one of its
 * functions is missing. */
int counters_api_load(struct counters_api *api);

#endif
