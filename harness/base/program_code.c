#define _GNU_SOURCE /* dl_iterate_phdr */
#include "base/program_code.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay.h"
#include "base/elf_file.h"
#include "base/error.h"
#include "base/sha256.h"

/* -------------------------------------------------------------- one file -- */

/* What may differ between builds that do the same on the host: notes (the build id), the sections
 * of PROGRAM_FACT, and machine code of GPUs. */
static bool is_left_out(const Elf64_Shdr *section, const char *name)
{
    static const char *const names[] = {"assay_provenance", ".nv_fatbin", ".nvFatBinSegment",
                                        "__nv_module_id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return section->sh_type == SHT_NOTE || !(section->sh_flags & SHF_ALLOC);
}

/* Whether a relocation is of a section that is left out: code of another size moves those. */
static int is_of_left_out(const struct elf_file *elf, uint64_t address, bool *found)
{
    struct elf_section section;
    *found = false;
    for (uint64_t i = 1; i < elf->count && !*found; i++) {
        if (elf_section_read(elf, i, &section)) return -1;
        *found = address - section.header.sh_addr < section.header.sh_size &&
                 is_left_out(&section.header, section.name) &&
                 (section.header.sh_flags & SHF_ALLOC);
    }
    return 0;
}

static int add_relocations(struct sha256 *hash, const struct elf_file *elf,
                           const struct elf_section *section)
{
    Elf64_Rela one;
    bool is_out;
    for (uint64_t at = 0; at + sizeof one <= section->size; at += sizeof one) {
        memcpy(&one, section->bytes + at, sizeof one);
        if (is_of_left_out(elf, one.r_offset, &is_out)) return -1;
        if (!is_out) sha256_add(hash, &one, sizeof one);
    }
    return 0;
}

static int add_sections(struct sha256 *hash, const struct elf_file *elf)
{
    for (uint64_t i = 1; i < elf->count; i++) {
        struct elf_section section;
        if (elf_section_read(elf, i, &section)) return -1;
        if (is_left_out(&section.header, section.name)) continue;
        sha256_add(hash, section.name, strlen(section.name) + 1);
        sha256_add(hash, &section.header.sh_size, sizeof section.header.sh_size);
        if (section.header.sh_type != SHT_RELA)
            sha256_add(hash, section.bytes, section.size);
        else if (add_relocations(hash, elf, &section))
            return -1;
    }
    return 0;
}

static int add_file(struct sha256 *hash, const char *path)
{
    struct elf_file elf;
    if (elf_map(&elf, path)) return -1;
    int status = add_sections(hash, &elf);
    elf_unmap(&elf);
    return status ? assay_error("%s: %s", path, assay_last_error()) : 0;
}

static void end(struct sha256 *hash, char out[PROGRAM_CODE])
{
    char text[SHA256_TEXT];
    sha256_end(hash, text);
    snprintf(out, PROGRAM_CODE, "%.32s", text);
}

int program_code_of_file(const char *path, char out[PROGRAM_CODE])
{
    struct sha256 hash;
    sha256_begin(&hash);
    out[0] = '\0';
    if (add_file(&hash, path) != 0) return -1;
    end(&hash, out);
    return 0;
}

/* ----------------------------------------------------------- the process -- */

static bool is_own(const struct dl_phdr_info *object)
{
    uintptr_t here = (uintptr_t)&program_code;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && here >= begin && here - begin < part->p_memsz) return true;
    }
    return false;
}

/* It cannot change while it runs, and is hashed once. */
static int add_own(struct sha256 *hash, const char *path)
{
    static char own[PROGRAM_CODE];
    if (!own[0] && program_code_of_file(path, own) != 0) return -1;
    sha256_add(hash, own, sizeof own);
    return 0;
}

/* The kernel's own object (vdso) has no file. */
static int add_object(struct dl_phdr_info *object, size_t size, void *hash)
{
    (void)size;
    struct stat about;
    const char *name = object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe";
    if (is_own(object)) return add_own(hash, name);
    if (strncmp(name, "linux-vdso", 10) == 0) return 0;
    if (stat(name, &about) != 0) return assay_error("%s: %s", name, strerror(errno));
    sha256_add(hash, name, strlen(name) + 1);
    sha256_add(hash, &about.st_size, sizeof about.st_size);
    sha256_add(hash, &about.st_mtim.tv_sec, sizeof about.st_mtim.tv_sec);
    return 0;
}

/* But for what a shell keeps of itself. */
static void add_environment(struct sha256 *hash)
{
    static const char *const own[] = {"_=", "SHLVL=", "PWD=", "OLDPWD="};
    for (char **at = environ; *at; at++) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            is_own |= strncmp(*at, own[i], strlen(own[i])) == 0;
        if (!is_own) sha256_add(hash, *at, strlen(*at) + 1);
    }
}

void program_code(char out[PROGRAM_CODE])
{
    struct sha256 hash;
    sha256_begin(&hash);
    out[0] = '\0';
    add_environment(&hash);
    if (dl_iterate_phdr(add_object, &hash) == 0) end(&hash, out);
}
