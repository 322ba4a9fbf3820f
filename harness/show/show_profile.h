/*
 * show_profile.h - the profiles of a run as people and programs read them.
 */
#ifndef SHOW_PROFILE_H
#define SHOW_PROFILE_H

#include <stdio.h>

#include "device/profile.h"
#include "store/store.h"

/* table, md or json; assay_error names them when not. */
bool show_profile_knows_format(const char *format);

/* How many cases have a profile; profiles[i] belongs to run->cases[i]. */
int show_profile_count(const struct stored_run *run, struct profile *const *profiles);

int show_profiles(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                  const char *format);

/* The formats. */
int show_profile_text(FILE *out, const struct stored_run *run, struct profile *const *profiles);
int show_profile_md(FILE *out, const struct stored_run *run, struct profile *const *profiles);
int show_profile_json(FILE *out, const struct stored_run *run, struct profile *const *profiles);

/* "48829 x 256", the grid and the block: "(2,64,1) x 128" where it is not flat; "" for
 * a copy. */
void profile_shape_text(char *out, size_t size, const struct profile_kernel *kernel);

/* "DRAM moved 250 MB where 250 MB are needed: 1.00x"; "" where it is not known. */
void profile_traffic_text(char *out, size_t size, const struct profile *profile,
                          const struct case_result *result);

/* "memory 12.1, fixed latency 3.0": the greatest three; "" unknown. */
void profile_stalls_text(char *out, size_t size, const struct profile *profile,
                         const double *values);

#endif
