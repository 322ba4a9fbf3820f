/*
 * trace_table.h - what `assay time` prints of a run: a line per kernel, the one with most time
 * first. Counts and totals are those of one launch of the program: their mean over launches.
 */
#pragma once

#include <stdio.h>

#include "case/run_record.h"

struct profile;

/* `profiles` as store_read_profiles has them. By range: one table per NVTX range, the one with most
 * time first. 0, or -1 with assay_error. */
int trace_table_print(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                      bool by_range, int width);
