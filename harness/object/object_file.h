/*
 * object_file.h - the file of an object, and loading it.
 */
#pragma once

#include <sys/stat.h>

#include "base/sha256.h"
#include "case/twins.h"

/* Whether a file can be a shared object of this machine, what its contents are, and what it is in
 * its file system. Runs nothing of it. -1 with assay_error. */
int object_file_read(const char *path, struct stat *about, char sha256[SHA256_TEXT]);

/* Of a file that describes others, once it is loaded: the SHA-256 of all of them; that of another
 * stays. -1 with assay_error. */
int object_file_digest(const char *path, char sha256[SHA256_TEXT]);

/* Load it, and add what it brings to the registry, or its variants as twins (`twin` -1: not).
 * `name` is what messages call it; *commit is that of its sources, or NULL. In the registry the
 * object of all variants of a build (object_family) takes the place of this program's own. -1 with
 * assay_error. */
int object_file_load(const char *path, const char *name, int twin, const char **commit);

/* Which build a program, or the shared object of its variants, is of: `make` writes the SHA-256 of
 * the object files of all kernels and baselines into a section of the program and of
 * libassay_variants.so, which are both linked from these files. Where the two have the same, their
 * variants are the same machine code. Runs nothing of it. -1 with assay_error where the file has
 * none: it is another program, or was built before there was one. */
int object_family(const char *path, char family[SHA256_TEXT]);
