/*
 * cupti_activity_cuda.h - converts CUPTI's activity records. Only for files that include
 * CUPTI's headers.
 */
#pragma once

#include <cupti_activity.h>

#include "device/cuda/cupti.h"
#include "device/cuda/symbols.h"

/* False for a kind of activity that is not used. The kernel's name is stored in `symbols`. */
bool activity_read(const CUpti_Activity *activity, struct symbols *symbols,
                   struct cupti_record *out);
