/*
 * run_choice.h - the run that a command's argument names, read from its database.
 */
#ifndef RUN_CHOICE_H
#define RUN_CHOICE_H

#include "store.h"

/* Read [PATH.sqlite:]RUN (NULL: the latest) with its samples, from the database
 * that --db (NULL: not given) or the environment names. stored_run_release
 * frees; -1 with assay_error. */
int run_choice_read(struct stored_run *run, const char *spec, const char *db);

/* The same with the profiles of its cases (store_read_profiles); store_profiles_release
 * them before the run. */
int run_choice_read_profiles(struct stored_run *run, struct profile ***profiles, const char *spec,
                             const char *db);

#endif
