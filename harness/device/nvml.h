/*
 * nvml.h - reads clocks, temperature, power, energy and the reasons for slow clocks of a
 * GPU through NVML, NVIDIA's management library. It is loaded at run time
 * (libnvidia-ml.so.1, or the file that ASSAY_NVML names) and needs no NVIDIA header.
 *
 * One card per process: the functions below refer to the card that nvml_open found, and
 * read nothing while none is open.
 */
#pragma once

#include "case/result.h"

/* Load the library and find the card by its UUID ("GPU-...", "MIG-..."). -1 with
 * assay_error. An open card is closed first. */
int nvml_open(const char *uuid);
void nvml_close(void);

/* Fill the constant properties: vbios, driver, highest clocks, power limit, ECC, MIG.
 * Fields that cannot be read are left unchanged. */
void nvml_describe(struct device_info *info);

/* Read the current state. Unreadable fields are NAN (clock_reasons 0). Newer cards report
 * power as an average over one second. */
void nvml_state(struct device_state *state);

/* Its link is at its full generation only while it works, or shortly after. */
void nvml_health(struct card_health *health);

/* The running energy counter alone, in a fraction of the time; NAN if it cannot be read. */
double nvml_energy_mj(void);

/* Whether the driver stays loaded between programs: 1 yes, 0 no, -1 unknown. */
int nvml_persistence(void);

/* Processes with a compute context on the card, including this one; -1 unknown. */
int nvml_processes(void);

/* Whether `clock_reasons` contains a hardware slow-down (thermal, power brake, HW
 * slowdown), for which samples are marked; the other reasons are normal. */
bool nvml_is_slowdown(uint64_t clock_reasons);

/* "sw power cap, hw thermal slowdown"; "" for none. */
void nvml_reasons_text(uint64_t clock_reasons, char *out, size_t size);
