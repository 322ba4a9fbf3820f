/*
 * nvml.h - the card's own word about itself: clocks, temperature, power,
 * energy, reasons for slow clocks. Loaded at run time (dlopen of
 * libnvidia-ml.so.1, or the file that ASSAY_NVML names); no header of NVIDIA's
 * is needed to build.
 *
 * One card a process: the functions below are about the one that nvml_open
 * found, and read nothing while none is open.
 */
#ifndef NVML_H
#define NVML_H

#include "case/result.h"

/* Load the library and find the card by its UUID ("GPU-...", "MIG-..."). -1 with
 * assay_error. An open card is closed first. */
int nvml_open(const char *uuid);
void nvml_close(void);

/* What describes the card: vbios, driver, highest clocks, power limit, ECC, MIG.
 * Fields it cannot read are left as they are. */
void nvml_describe(struct device_info *info);

/* What changes. Unreadable fields are NAN (clock_reasons 0). Power is NVML's own
 * figure, which newer cards average over a second. */
void nvml_state(struct device_state *state);

/* Whether the driver stays loaded between programs: 1 yes, 0 no, -1 unknown. */
int nvml_persistence(void);

/* Processes with a compute context on the card, this one included; -1 unknown. */
int nvml_processes(void);

/* The reasons of `clock_reasons` that are hardware slow-downs (thermal, power
 * brake, HW slowdown), which make a sample marked; others are normal. */
bool nvml_is_slowdown(uint64_t clock_reasons);

/* "sw power cap, hw thermal slowdown"; "" for none. */
void nvml_reasons_text(uint64_t clock_reasons, char *out, size_t size);

#endif
