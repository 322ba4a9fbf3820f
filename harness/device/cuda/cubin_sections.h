/*
 * cubin_sections.h - the sections of a cubin, a 64-bit little-endian ELF file for machine EM_CUDA.
 * Pure. The input is untrusted and may be unaligned: every offset is checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cubin_sections {
    const unsigned char *bytes; /* of the file, borrowed */
    size_t size;
    uint64_t table, count; /* offset of the section table, and how many sections it has */
    const char *names;
    size_t names_size; /* the last byte of them is 0 */
    int abi;
    uint32_t flags;
};

struct cubin_section {
    const char *name;
    const unsigned char *bytes;
    size_t size;
    uint32_t info;
    bool is_code; /* of type PROGBITS */
};

/* -1 with assay_error when the bytes are no complete cubin. */
int cubin_sections_open(struct cubin_sections *sections, const void *bytes, size_t size);

/* Section `index`, from 1 on. A section without bytes in the file has size 0. -1 with assay_error
 * when it is out of bounds. */
int cubin_section_read(const struct cubin_sections *sections, uint64_t index,
                       struct cubin_section *section);

/* The compute capability x 10 whose machine code it is. */
int cubin_architecture(const struct cubin_sections *sections);
