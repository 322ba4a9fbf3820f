#include "base/program_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay.h"
#include "base/sha256.h"

/* -------------------------------------------------------------- one file -- */

/* A file in memory; every offset in it is checked. */
struct elf {
    const unsigned char *bytes;
    size_t size;
};

static bool holds(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

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

/* Whether a relocation is of a section that is left out, which machine code of another size moves.
 */
static bool is_of_left_out(const struct elf *elf, const Elf64_Ehdr *head, const Elf64_Shdr *names,
                           uint64_t address)
{
    for (int i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, elf->bytes + head->e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_name >= names->sh_size || address - section.sh_addr >= section.sh_size)
            continue;
        const char *name = (const char *)elf->bytes + names->sh_offset + section.sh_name;
        if (is_left_out(&section, name) && (section.sh_flags & SHF_ALLOC)) return true;
    }
    return false;
}

static void add_relocations(struct sha256 *hash, const struct elf *elf, const Elf64_Ehdr *head,
                            const Elf64_Shdr *names, const Elf64_Shdr *section)
{
    Elf64_Rela one;
    for (uint64_t at = 0; at + sizeof one <= section->sh_size; at += sizeof one) {
        memcpy(&one, elf->bytes + section->sh_offset + at, sizeof one);
        if (!is_of_left_out(elf, head, names, one.r_offset)) sha256_add(hash, &one, sizeof one);
    }
}

static int refuse(const char *path)
{
    return assay_error("%s: its sections cannot be read", path);
}

static int add_sections(struct sha256 *hash, const struct elf *elf, const char *path)
{
    Elf64_Ehdr head;
    Elf64_Shdr section, names;
    if (!holds(elf, 0, sizeof head)) return refuse(path);
    memcpy(&head, elf->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof section || head.e_shstrndx >= head.e_shnum ||
        !holds(elf, head.e_shoff, (uint64_t)head.e_shnum * sizeof section))
        return refuse(path);
    const unsigned char *table = elf->bytes + head.e_shoff;
    memcpy(&names, table + head.e_shstrndx * sizeof names, sizeof names);
    if (!holds(elf, names.sh_offset, names.sh_size) || names.sh_size == 0 ||
        elf->bytes[names.sh_offset + names.sh_size - 1] != '\0')
        return refuse(path);
    for (int i = 0; i < head.e_shnum; i++) {
        memcpy(&section, table + (size_t)i * sizeof section, sizeof section);
        bool has_bytes = section.sh_type != SHT_NOBITS;
        if (section.sh_name >= names.sh_size ||
            (has_bytes && !holds(elf, section.sh_offset, section.sh_size)))
            return refuse(path);
        const char *name = (const char *)elf->bytes + names.sh_offset + section.sh_name;
        if (is_left_out(&section, name)) continue;
        sha256_add(hash, name, strlen(name) + 1);
        sha256_add(hash, &section.sh_size, sizeof section.sh_size);
        if (section.sh_type == SHT_RELA)
            add_relocations(hash, elf, &head, &names, &section);
        else if (has_bytes)
            sha256_add(hash, elf->bytes + section.sh_offset, section.sh_size);
    }
    return 0;
}

static int add_file(struct sha256 *hash, const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0) close(file);
    if (bytes == MAP_FAILED) return assay_error("%s: cannot be read", path);
    struct elf elf = {bytes, (size_t)about.st_size};
    int status = add_sections(hash, &elf, path);
    munmap(bytes, elf.size);
    return status;
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

/* Whether the object holds this function. */
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
