/*
 * show_profile.h - writes the profiles of a run in each format.
 */
#ifndef SHOW_PROFILE_H
#define SHOW_PROFILE_H

#include <stdio.h>

#include "device/profile.h"
#include "store/store.h"

/* Whether `format` is table, md or json; otherwise assay_error lists them. */
bool show_profile_knows_format(const char *format);

/* How many cases have a profile. profiles[i] belongs to run->cases[i]; NULL: none. */
int show_profile_count(const struct stored_run *run, struct profile *const *profiles);

int show_profiles(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                  const char *format);

int show_profile_text(FILE *out, const struct stored_run *run, struct profile *const *profiles);
int show_profile_md(FILE *out, const struct stored_run *run, struct profile *const *profiles);
int show_profile_json(FILE *out, const struct stored_run *run, struct profile *const *profiles);

/* Grid and block: "48829 x 256", or "(2,64,1) x 128" if not one-dimensional; "" for a copy. */
void profile_shape_text(char *out, size_t size, const struct profile_kernel *kernel);

/* "DRAM moved 250 MB where 250 MB are needed: 1.00x"; "" if unknown. */
void profile_traffic_text(char *out, size_t size, const struct profile *profile,
                          const struct case_result *result);

/* The three largest stalls, in cycles per instruction: "memory 12.1, fixed latency 3.0"; ""
 * if unknown. */
void profile_stalls_text(char *out, size_t size, const struct profile *profile,
                         const double *values);

#endif
