/*
 * cubin_identity.h - whether two cubins are the same code. Pure.
 */
#pragma once

#include "device/cuda/cubin.h"

/* A hash of all that a module loads and refers to: the machine code of every function in it,
 * constants, initial values, sizes and alignments of variables, attributes of kernels, relocations
 * and symbols. It leaves out what says where the source stood: line tables, debug information,
 * notes of the tools, and the number that nvcc makes of a file's path in the names of what is local
 * to it. So it differs where any kernel of the module differs. -1 with assay_error when the bytes
 * are no complete cubin. */
int cubin_identity(const void *bytes, size_t size, struct code_hash *hash);

/* Copy a linker's name without such numbers; it is cut at `size`. */
void cubin_plain_local(const char *name, char *out, size_t size);
