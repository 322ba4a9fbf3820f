/*
 * store_csv.h - a run as one wide CSV table, a row per case, for spreadsheets and
 * scripts. It holds the figures of each case and where they come from, but not
 * the samples, the suite's text, the plan or the device's states: NDJSON does, which
 * is what an import takes. 0; 1: the filter (case_name.h; NULL: all) matches no case; -1 after
 * assay_error.
 */
#pragma once

#include <stdio.h>

#include "store/store.h"

int store_export_csv(struct store *store, const char *run_id, const char *filter, FILE *out);
