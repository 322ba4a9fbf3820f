/*
 * datadir.h - where the files that come with the program are: suites, plots.
 */
#ifndef DATADIR_H
#define DATADIR_H

#include <stddef.h>

/* Find `file` of folder `kind` ("plots"): in the folder that ASSAY_PLOTS names,
 * ./plots, then plots/ beside the program, above it (build/), two above it
 * (build/NAME/), and in share/assay/ of where it is installed. Writes the path;
 * -1 with assay_error when it is in none. */
int datadir_find(const char *kind, const char *file, char *path, size_t size);

/* Folder number `index` (from 0) of that search, whether it exists or not; -1
 * after the last. */
int datadir_folder(const char *kind, int index, char *path, size_t size);

#endif
