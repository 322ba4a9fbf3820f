/*
 * nvml.h - the card's own word about itself: clocks, temperature, power,
 * energy, reasons for slow clocks. Loaded at run time (dlopen of
 * libnvidia-ml.so.1); no header of NVIDIA's is needed to build.
 */
#ifndef NVML_H
#define NVML_H

#include "result.h"

/* Load the library and find the card by its UUID ("GPU-..."). -1 with assay_error. */
int nvml_open(const char *uuid);
void nvml_close(void);

/* What describes the card: vbios, driver, clocks_max, power limit, ecc, mig.
 * Fields it cannot read are left as they are. */
void nvml_describe(struct device_info *info);

/* What changes. Unreadable fields are NAN (clock_reasons 0). */
void nvml_state(struct device_state *state);

/* The reasons of `clock_reasons` that are hardware slow-downs (thermal, power
 * brake, HW slowdown), which make a sample marked; others are normal. */
bool nvml_is_slowdown(uint64_t clock_reasons);

/* "sw power cap, hw thermal slowdown"; "" for none. */
void nvml_reasons_text(uint64_t clock_reasons, char *out, size_t size);

#endif
