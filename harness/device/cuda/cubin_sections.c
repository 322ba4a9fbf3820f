#include <elf.h>
#include <string.h>

#include "assay.h"
#include "device/cuda/cubin_sections.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

static bool holds(const struct cubin_sections *sections, uint64_t offset, uint64_t bytes)
{
    return offset <= sections->size && bytes <= sections->size - offset;
}

static Elf64_Shdr header_at(const struct cubin_sections *sections, uint64_t index)
{
    Elf64_Shdr header;
    memcpy(&header, sections->bytes + sections->table + index * sizeof header, sizeof header);
    return header;
}

static int read_header(struct cubin_sections *sections, Elf64_Ehdr *header)
{
    if (!sections->bytes || sections->size < sizeof *header) return assay_error("cubin: too short");
    memcpy(header, sections->bytes, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_CUDA)
        return assay_error("cubin: not a 64-bit ELF file for CUDA");
    if (header->e_shentsize != sizeof(Elf64_Shdr) ||
        !holds(sections, header->e_shoff, sizeof(Elf64_Shdr)))
        return assay_error("cubin: the section table is out of bounds");
    return 0;
}

/* If the number of sections does not fit into 16 bits, section 0 has it (System V ABI,
 * chapter 4, "Sections"); modules of vendor libraries may have that many. */
int cubin_sections_open(struct cubin_sections *sections, const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    *sections = (struct cubin_sections){.bytes = bytes, .size = size};
    if (read_header(sections, &header)) return -1;
    sections->table = header.e_shoff;
    sections->abi = header.e_ident[EI_ABIVERSION];
    sections->flags = header.e_flags;
    Elf64_Shdr first = header_at(sections, 0);
    sections->count = header.e_shnum ? header.e_shnum : first.sh_size;
    if (sections->count > (size - header.e_shoff) / sizeof(Elf64_Shdr))
        return assay_error("cubin: the section table is out of bounds");

    uint64_t index = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    if (index >= sections->count) return assay_error("cubin: it has no section names");
    Elf64_Shdr table = header_at(sections, index);
    if (table.sh_type != SHT_STRTAB || table.sh_size == 0 ||
        !holds(sections, table.sh_offset, table.sh_size) ||
        sections->bytes[table.sh_offset + table.sh_size - 1] != '\0')
        return assay_error("cubin: its section names are out of bounds");
    sections->names = (const char *)sections->bytes + table.sh_offset;
    sections->names_size = table.sh_size;
    return 0;
}

int cubin_section_read(const struct cubin_sections *sections, uint64_t index,
                       struct cubin_section *section)
{
    Elf64_Shdr header = header_at(sections, index);
    if (header.sh_name >= sections->names_size)
        return assay_error("cubin: a section's name is out of bounds");
    bool has_bytes = header.sh_type != SHT_NULL && header.sh_type != SHT_NOBITS;
    if (has_bytes && !holds(sections, header.sh_offset, header.sh_size))
        return assay_error("cubin: the bytes of a section are out of bounds");
    *section = (struct cubin_section){
        .name = sections->names + header.sh_name,
        .bytes = has_bytes ? sections->bytes + header.sh_offset : NULL,
        .size = has_bytes ? header.sh_size : 0,
        .info = header.sh_info,
        .is_code = header.sh_type == SHT_PROGBITS,
    };
    return 0;
}

/* From the ABI of CUDA 12.9 (version 8) on, its second byte; the first before that. */
int cubin_architecture(const struct cubin_sections *sections)
{
    return (int)(sections->abi >= 8 ? sections->flags >> 8 & 0xff : sections->flags & 0xff);
}
