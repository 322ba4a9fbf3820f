/*
 * devices.h - the devices of the process that this library is loaded into, by the driver.
 */
#pragma once

#include "device/trace_format.h"

/* Call `each` for every device that the process sees; for none where the driver does not say. */
void devices_each(void (*each)(const struct trace_device *device));
