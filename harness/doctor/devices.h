/* devices.h - the devices of this machine, asked through a worker each, so that
 * this process never touches CUDA. */
#ifndef DEVICES_H
#define DEVICES_H

#include <stdio.h>

#include "case/result.h"

/* Open `spec` ("host", "cuda:0", "auto") in a worker and describe it; with
 * try_counters, `lost` says whether hardware counters can be read (device.h). */
int devices_probe(const char *spec, bool try_counters, struct device_info *info);

/* Every device, as a table or JSON. */
int devices_list(FILE *out, const char *format);

#endif
