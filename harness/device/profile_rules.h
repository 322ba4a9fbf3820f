/*
 * profile_rules.h - says in one line what limits a kernel, from its counters and a table
 * of rules (docs/profile.md). Pure.
 */
#pragma once

#include "device/profile.h"

enum { PROFILE_MAX_WORDS = 256 };

/* Write "memory: DRAM at 91 % of its peak": the text of the first rule that applies, with
 * the figures that decided it. `time_ns` is the time of one kernel. */
void profile_verdict(const struct profile *profile, const double *values, double time_ns,
                     char out[PROFILE_MAX_WORDS]);

/* The same for one kernel; "" for a copy, and if only the whole launch was counted. */
void profile_kernel_verdict(const struct profile *profile, const struct profile_kernel *kernel,
                            char out[PROFILE_MAX_WORDS]);

/* Whether the launch has several kernels but only counters for the launch as a whole. */
bool profile_is_whole(const struct profile *profile);

/* Label of the stall with the most cycles per instruction among `values`, after skipping
 * the `skip` largest; NULL when there is none. */
const char *profile_top_stall(const struct profile *profile, const double *values, int skip,
                              double *cycles);

/* Bytes moved by DRAM / minimum bytes of the operation; NAN when either is unknown. */
double profile_traffic_ratio(const struct profile *profile, const struct case_work *work);
