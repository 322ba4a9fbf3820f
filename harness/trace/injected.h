/*
 * injected.h - the library that is loaded into programs: this program has it within itself, so that
 * a copy of the program is enough.
 */
#pragma once

#include <stddef.h>

/* Whether there is one. -1 with assay_error: built without CUDA or without CUPTI. */
int injected_check(void);

/* Write it into the folder, or where ASSAY_TIME_LIBRARY names a file take that one: its path. -1
 * with assay_error. */
int injected_place(const char *folder, char *path, size_t size);
