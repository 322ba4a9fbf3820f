/*
 * store_csv.h - a run as one wide CSV table, a row a case, for spreadsheets and
 * scripts. It holds the figures of each case and where they come from, but not
 * the samples, the suite's text, the plan or the device's states: NDJSON does.
 *
 * An import makes a run without samples, whose id is a hash of the rows; so a
 * second import of the same rows adds nothing, and it never mixes with the run
 * that was exported. Every column must be there, and no other, in any order.
 * Both return 0, or -1 after assay_error ("NAME:LINE: ..." on import).
 */
#ifndef STORE_CSV_H
#define STORE_CSV_H

#include <stdio.h>

#include "store/store.h"

int store_export_csv(struct store *store, const char *run_id, FILE *out);
int store_import_csv(struct store *store, const char *name, FILE *in, int *rows_added);

#endif
