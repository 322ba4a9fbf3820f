/*
 * version.h - what `assay --version` says: the build, and the libraries it stands
 * on as this machine has them.
 */
#ifndef VERSION_H
#define VERSION_H

#include <stdio.h>

/* Five lines. OpenBLAS alone is loaded for it: CUDA and the driver are told by what the
 * build and the kernel module recorded. */
void version_print(FILE *out);

#endif
