/*
 * list.h - what `assay list` lists. Each writes a table on standard output, or, where
 * `json` is given, the members of an array. -1 with assay_error.
 */
#ifndef LIST_H
#define LIST_H

#include "json.h"

int list_suites(struct json *json, const char *database);
int list_operations(struct json *json, const char *database);
int list_variants(struct json *json, const char *database);
int list_runs(struct json *json, const char *database);

#endif
