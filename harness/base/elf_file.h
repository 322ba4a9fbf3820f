/*
 * elf_file.h - the sections of a 64-bit ELF file for this machine's order of bytes (System V ABI,
 * chapter 4): of a program, a shared object, or a cubin. The input is untrusted and may be
 * unaligned: every offset is checked.
 */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
    const unsigned char *bytes; /* borrowed, or of elf_map */
    size_t size;
    Elf64_Ehdr header;
    uint64_t count; /* of sections */
    const char *names;
    size_t names_size; /* the last byte of them is 0 */
};

struct elf_section {
    const char *name;
    const unsigned char *bytes; /* NULL: it has none in the file */
    size_t size;                /* of these bytes */
    Elf64_Shdr header;
};

/* -1 with assay_error when the bytes are no complete file of this kind. */
int elf_open(struct elf_file *elf, const void *bytes, size_t size);

/* Section `index`, from 1 on. -1 with assay_error when it is out of bounds. */
int elf_section_read(const struct elf_file *elf, uint64_t index, struct elf_section *section);

/* The first section of this name, or one without a name and bytes where there is none. -1 with
 * assay_error when the search meets one that is out of bounds. */
int elf_section_find(const struct elf_file *elf, const char *name, struct elf_section *section);

/* Open what is at `path`, until elf_unmap. -1 with assay_error, and nothing is to be unmapped. */
int elf_map(struct elf_file *elf, const char *path);
void elf_unmap(struct elf_file *elf);
