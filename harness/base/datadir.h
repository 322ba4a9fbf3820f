/*
 * datadir.h - where the files that come with the program are: suites, plots.
 */
#pragma once

#include <stddef.h>

/* Find `file` in the folder of `kind` ("plots"). Searched in order: the folder that
 * ASSAY_PLOTS names, plots/ beside the program, share/assay/plots of the installation, and
 * plots/ one level above the program (build/) and two levels above it (build/NAME/). Never in
 * the current folder, which may be anybody's: what is found may be code. Writes the path; -1
 * with assay_error when no folder has the file. */
int datadir_find(const char *kind, const char *file, char *path, size_t size);

/* Folder number `index` (from 0) of that search, whether or not it exists; -1
 * after the last. */
int datadir_folder(const char *kind, int index, char *path, size_t size);
