/*
 * suite_find.h - where suite files are. By path (it has a slash or ends in
 * .ini), or NAME.ini in the first of these folders that has it:
 *
 *   $ASSAY_SUITES
 *   those of datadir.h: beside the program, installed, beside its folder
 *   ./suites
 */
#pragma once

#include "assay.h"

enum { SUITE_MAX_PATH = 256 };

/* The path of a suite's file. `beside`, which may be NULL, is a file in whose
 * folder a name is looked for first and where a relative path begins. -1 with
 * assay_error; an unknown name gets a suggestion. */
int suite_find(const char *name_or_path, const char *beside, char path[SUITE_MAX_PATH]);

/* The same of a path to any file. */
int suite_path(const char *path, const char *beside, char out[SUITE_MAX_PATH]);

/* "suites/int8.ini" -> "int8" */
void suite_name_of(const char *path, char name[ASSAY_MAX_NAME]);
