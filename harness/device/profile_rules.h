/*
 * profile_rules.h - what bounds a kernel, in one line of plain words, from its
 * counters and a table of rules. docs/profile.md has the table. Pure.
 */
#ifndef PROFILE_RULES_H
#define PROFILE_RULES_H

#include "device/profile.h"

enum { PROFILE_MAX_WORDS = 256 };

/* "memory: DRAM at 91 % of its peak". The first rule that holds speaks; the figures
 * it went by stand beside. `time_ns` is of one kernel. */
void profile_verdict(const struct profile *profile, const double *values, double time_ns,
                     char out[PROFILE_MAX_WORDS]);

/* Of a kernel: "" for a copy, and where only the launch as a whole was counted. */
void profile_kernel_verdict(const struct profile *profile, const struct profile_kernel *kernel,
                            char out[PROFILE_MAX_WORDS]);

/* Whether only the launch as a whole has counters, though it has several kernels. */
bool profile_is_whole(const struct profile *profile);

/* The stall with the most cycles an instruction among `values`: its label, or NULL
 * when none was read; `skip` are the greatest ones passed over. */
const char *profile_top_stall(const struct profile *profile, const double *values, int skip,
                              double *cycles);

/* Bytes that DRAM moved over the least the operation needs; NAN when either is not
 * known. */
double profile_traffic_ratio(const struct profile *profile, const struct assay_work *work);

#endif
