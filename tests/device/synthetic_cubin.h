/*
 * synthetic_cubin.h - for tests: a cubin made by code, with one section of
 * machine code for each function and nothing else.
 */
#pragma once

#include <elf.h>
#include <string.h>

struct synthetic_function {
    const char *name;
    const void *code;
    size_t size;
};

enum { SYNTHETIC_MAX = 8192 };

/* Layout: header, section table (null, names, one a function), names, code.
 * Returns the bytes written into `out`. */
static inline size_t synthetic_cubin(unsigned char out[SYNTHETIC_MAX],
                                     const struct synthetic_function *functions, int count)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = 190,
        .e_shoff = sizeof header,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)(count + 2),
        .e_shstrndx = 1};
    Elf64_Shdr sections[64] = {{0}};
    size_t names_at = sizeof header + (size_t)(count + 2) * sizeof *sections, names_size = 1;
    memset(out, 0, SYNTHETIC_MAX);
    for (int i = 0; i < count; i++) {
        char name[256];
        int length = snprintf(name, sizeof name, ".text.%s", functions[i].name);
        sections[i + 2].sh_type = SHT_PROGBITS;
        sections[i + 2].sh_name = (Elf64_Word)names_size;
        memcpy(out + names_at + names_size, name, (size_t)length + 1);
        names_size += (size_t)length + 1;
    }
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = names_at;
    sections[1].sh_size = names_size;
    size_t end = names_at + names_size;
    for (int i = 0; i < count; i++) {
        sections[i + 2].sh_offset = end;
        sections[i + 2].sh_size = functions[i].size;
        memcpy(out + end, functions[i].code, functions[i].size);
        end += functions[i].size;
    }
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, sections, (size_t)(count + 2) * sizeof *sections);
    return end;
}
