/*
 * cubin.h - reads the machine code of kernels out of a cubin. Pure.
 *
 * A cubin is a 64-bit little-endian ELF file for machine EM_CUDA, with one
 * section `.text.NAME` for each function, NAME being its mangled name (NVIDIA,
 * CUDA Binary Utilities). The input may be anything: every offset is checked.
 *
 * The hash covers the bytes of that section and nothing else: neither its
 * constants (.nv.constant*: literals and the space of its parameters) nor
 * device functions it calls that were not inlined, which have sections of their
 * own. Line tables are elsewhere too, so that moving a kernel within its source
 * file does not change its hash.
 */
#ifndef CUBIN_H
#define CUBIN_H

#include <stddef.h>
#include <stdint.h>

/* 128 bits of hash; equal bytes, equal hash, on every machine. */
struct code_hash {
    uint64_t word[2];
};

/* Not for adversaries: it tells builds apart, it does not sign them. A change
 * within one aligned 8-byte word always changes it. */
struct code_hash code_hash_of(const void *bytes, size_t size);

/* Call `each` for every function of the cubin, in the file's order. `name` is
 * valid during the call. Returns how many, or -1 with assay_error when the
 * bytes are no whole cubin (`each` may have been called by then). */
int cubin_each_function(const void *bytes, size_t size,
                        void (*each)(const char *name, struct code_hash hash, void *context),
                        void *context);

#endif
