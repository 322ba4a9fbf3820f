/*
 * devices.h - the devices of this machine, as `assay list devices` shows them.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include <stdio.h>

/* Write the devices to `out` as "table" or "json". -1 with assay_error. */
int devices_list(FILE *out, const char *format);

#endif
