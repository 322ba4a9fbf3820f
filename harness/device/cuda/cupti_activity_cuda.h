/*
 * cupti_activity_cuda.h - from CUPTI's activity records to ours. Only for the files
 * that include CUPTI's headers.
 */
#ifndef CUPTI_ACTIVITY_CUDA_H
#define CUPTI_ACTIVITY_CUDA_H

#include <cupti_activity.h>

#include "device/cuda/cupti.h"
#include "device/cuda/symbols.h"

/* False for an activity that nobody asked for. A kernel's name is kept by `symbols`. */
bool activity_read(const CUpti_Activity *activity, struct symbols *symbols,
                   struct cupti_record *out);

#endif
