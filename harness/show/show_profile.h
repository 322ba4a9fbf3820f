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

int show_profile_json(FILE *out, const struct stored_run *run, struct profile *const *profiles);

#endif
