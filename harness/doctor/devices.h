/* devices.h - describes the devices of this machine. Each is opened in a worker, so that this
 * process never uses CUDA. */
#pragma once

#include <stdio.h>

#include "case/result.h"

/* Open `spec` ("host", "cuda:0", "auto") in a worker and describe it; with try_counters,
 * info->lost has a line if hardware counters cannot be read (device.h). */
int devices_probe(const char *spec, bool try_counters, struct device_info *info);

/* Print every device as a table or as JSON. */
int devices_list(FILE *out, const char *format);
