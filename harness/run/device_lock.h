/*
 * device_lock.h - a GPU for one process of a job: ranks that see the same one would measure each
 * other. Held until this process ends, however it ends.
 */
#pragma once

#include "case/result.h"

/* Take the GPU (what has no UUID is not taken: a host). -1 with assay_error where another process
 * of a job on this machine has it. A simulated one is only taken within the job. */
int device_lock(const struct device_info *device, const char *job);
