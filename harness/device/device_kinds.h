/* device_kinds.h - the devices there are; device.c puts them in a table. */
#ifndef DEVICE_KINDS_H
#define DEVICE_KINDS_H

#include "device/device.h"

extern const struct device_ops device_cuda;
extern const struct device_ops device_host;
extern const struct device_ops device_sim;

#endif
