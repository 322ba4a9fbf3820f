#include "base/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"

static bool holds(const struct elf_file *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

static Elf64_Shdr header_at(const struct elf_file *elf, uint64_t index)
{
    Elf64_Shdr header;
    memcpy(&header, elf->bytes + elf->header.e_shoff + index * sizeof header, sizeof header);
    return header;
}

static int read_header(struct elf_file *elf)
{
    static const unsigned char kind[] = {ELFMAG0, ELFMAG1,    ELFMAG2,
                                         ELFMAG3, ELFCLASS64, ELFDATA2LSB};
    if (!elf->bytes || elf->size < sizeof elf->header) return assay_error("too short for ELF");
    memcpy(&elf->header, elf->bytes, sizeof elf->header);
    if (memcmp(elf->header.e_ident, kind, sizeof kind)) return assay_error("not a 64-bit ELF file");
    if (elf->header.e_shentsize != sizeof(Elf64_Shdr) ||
        !holds(elf, elf->header.e_shoff, sizeof(Elf64_Shdr)))
        return assay_error("its section table is out of bounds");
    return 0;
}

/* A number of sections that does not fit into 16 bits, as of vendor libraries, is in section 0. */
int elf_open(struct elf_file *elf, const void *bytes, size_t size)
{
    *elf = (struct elf_file){.bytes = bytes, .size = size};
    if (read_header(elf)) return -1;
    Elf64_Shdr first = header_at(elf, 0);
    elf->count = elf->header.e_shnum ? elf->header.e_shnum : first.sh_size;
    if (elf->count > (size - elf->header.e_shoff) / sizeof(Elf64_Shdr))
        return assay_error("its section table is out of bounds");

    uint64_t index = elf->header.e_shstrndx == SHN_XINDEX ? first.sh_link : elf->header.e_shstrndx;
    if (index >= elf->count) return assay_error("it has no section names");
    Elf64_Shdr table = header_at(elf, index);
    if (table.sh_type != SHT_STRTAB || table.sh_size == 0 ||
        !holds(elf, table.sh_offset, table.sh_size) ||
        elf->bytes[table.sh_offset + table.sh_size - 1] != '\0')
        return assay_error("its section names are out of bounds");
    elf->names = (const char *)elf->bytes + table.sh_offset;
    elf->names_size = table.sh_size;
    return 0;
}

int elf_section_read(const struct elf_file *elf, uint64_t index, struct elf_section *section)
{
    Elf64_Shdr header = header_at(elf, index);
    if (header.sh_name >= elf->names_size) return assay_error("a section's name is out of bounds");
    bool has_bytes = header.sh_type != SHT_NULL && header.sh_type != SHT_NOBITS;
    if (has_bytes && !holds(elf, header.sh_offset, header.sh_size))
        return assay_error("the bytes of a section are out of bounds");
    *section = (struct elf_section){
        .name = elf->names + header.sh_name,
        .bytes = has_bytes ? elf->bytes + header.sh_offset : NULL,
        .size = has_bytes ? header.sh_size : 0,
        .header = header,
    };
    return 0;
}

int elf_section_find(const struct elf_file *elf, const char *name, struct elf_section *section)
{
    for (uint64_t i = 1; i < elf->count; i++) {
        if (elf_section_read(elf, i, section)) return -1;
        if (strcmp(section->name, name) == 0) return 0;
    }
    *section = (struct elf_section){.name = ""};
    return 0;
}

int elf_map(struct elf_file *elf, const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    void *bytes = MAP_FAILED;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return assay_error("%s: cannot be read", path);
    if (elf_open(elf, bytes, (size_t)about.st_size) == 0) return 0;
    elf_unmap(elf);
    return assay_error("%s: %s", path, assay_last_error());
}

void elf_unmap(struct elf_file *elf)
{
    munmap((void *)elf->bytes, elf->size);
    *elf = (struct elf_file){.bytes = NULL};
}
