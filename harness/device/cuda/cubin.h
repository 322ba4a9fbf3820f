/*
 * cubin.h - the sections of a cubin, and a hash of the machine code of each kernel in it. Pure.
 *
 * A cubin is a 64-bit little-endian ELF file for machine EM_CUDA, with one section
 * `.text.NAME` per function, where NAME is the mangled name (NVIDIA, CUDA Binary
 * Utilities). The input is untrusted: every offset is checked.
 *
 * The hash covers the bytes of that section only. It covers neither the constants of the
 * function (.nv.constant*: literals and parameter space) nor device functions that it
 * calls and that were not inlined, which have sections of their own. Line tables are in
 * other sections, so moving a kernel within its source file does not change its hash.
 */
#pragma once

#include "base/elf_file.h"

/* A 128-bit hash that is the same on every machine. */
struct code_hash {
    uint64_t word[2];
};

/* Not cryptographic: it distinguishes builds, it does not sign them. A change within one
 * aligned 8-byte word always changes the hash. */
struct code_hash code_hash_of(const void *bytes, size_t size);
/* Of what was hashed before, and these bytes behind it. */
void code_hash_add(struct code_hash *hash, const void *bytes, size_t size);

/* Open its sections. -1 with assay_error when the bytes are no complete cubin. */
int cubin_open(struct elf_file *elf, const void *bytes, size_t size);

/* The compute capability x 10 whose machine code it is. */
int cubin_architecture(const struct elf_file *elf);

/* Call `each` for every function of the cubin, in file order; `name` is valid during the
 * call. Returns how many, or -1 with assay_error when the bytes are not a complete cubin
 * (`each` may have been called before). */
int cubin_each_function(const void *bytes, size_t size,
                        void (*each)(const char *name, struct code_hash hash, void *context),
                        void *context);
