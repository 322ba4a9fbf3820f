/*
 * object_family.h - which build a program, or the shared object of its variants, is of.
 *
 * `make` writes the SHA-256 of the object files of all kernels and baselines into a section of the
 * program and of libassay_variants.so, which are both linked from these files: where the two have
 * the same, their variants are the same machine code.
 */
#pragma once

#include "base/sha256.h"

/* The section of a file for this machine, without running anything of it. 0, or -1 with assay_error
 * where it has none: it is another program, or was built before there was one. */
int object_family(const char *path, char family[SHA256_TEXT]);
