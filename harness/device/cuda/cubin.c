#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "assay.h"
#include "device/cuda/cubin.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* ----------------------------------------------------------------- hash -- */

enum { LANES = 4, STRIPE_BYTES = 8 * LANES };

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

/* The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014): one to one. */
static uint64_t finish(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* Four independent chains hide the latency of the multiplier. Each step is one to one in
 * the lane and in the word, so a difference in one word never gets lost. */
static void absorb(uint64_t lane[LANES], const unsigned char *stripe)
{
    for (int i = 0; i < LANES; i++) {
        uint64_t word;
        memcpy(&word, stripe + 8 * i, sizeof word);
        lane[i] = rotate_left((lane[i] ^ word) * 0x9e3779b97f4a7c15u, 31);
    }
}

struct code_hash code_hash_of(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    /* Fractional digits of pi: any distinct values do. */
    uint64_t lane[LANES] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u,
                            0x082efa98ec4e6c89u};

    size_t left = size;
    for (; left >= STRIPE_BYTES; left -= STRIPE_BYTES, at += STRIPE_BYTES)
        absorb(lane, at);
    /* Padding with zeros is safe: the size is hashed too. */
    unsigned char tail[STRIPE_BYTES] = {0};
    if (left > 0) memcpy(tail, at, left);
    absorb(lane, tail);

    struct code_hash hash = {{finish(size), finish(~(uint64_t)size)}};
    for (int i = 0; i < LANES; i++) {
        hash.word[0] = finish(hash.word[0] + lane[i]);
        hash.word[1] = finish(hash.word[1] ^ lane[LANES - 1 - i]);
    }
    return hash;
}

/* ------------------------------------------------------------------ ELF -- */

struct image {
    const unsigned char *bytes;
    size_t size;
};

static bool image_holds(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->size && bytes <= image->size - offset;
}

/* Copied, because the image may be unaligned. */
static Elf64_Shdr section_at(const struct image *image, const Elf64_Ehdr *header, uint64_t index)
{
    Elf64_Shdr section;
    memcpy(&section, image->bytes + header->e_shoff + index * sizeof section, sizeof section);
    return section;
}

static int read_header(const struct image *image, Elf64_Ehdr *header)
{
    if (!image->bytes || image->size < sizeof *header) return assay_error("cubin: too short");
    memcpy(header, image->bytes, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_CUDA)
        return assay_error("cubin: not a 64-bit ELF file for CUDA");
    if (header->e_shentsize != sizeof(Elf64_Shdr) ||
        !image_holds(image, header->e_shoff, sizeof(Elf64_Shdr)))
        return assay_error("cubin: the section table is out of bounds");
    return 0;
}

/* If the number of sections does not fit into 16 bits, section 0 has it (System V ABI,
 * chapter 4, "Sections"); modules of vendor libraries may have that many. */
static int read_layout(const struct image *image, const Elf64_Ehdr *header, uint64_t *count,
                       struct image *names)
{
    Elf64_Shdr first = section_at(image, header, 0);
    *count = header->e_shnum ? header->e_shnum : first.sh_size;
    if (*count > (image->size - header->e_shoff) / sizeof(Elf64_Shdr))
        return assay_error("cubin: the section table is out of bounds");

    uint64_t index = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    if (index >= *count) return assay_error("cubin: it has no section names");
    Elf64_Shdr table = section_at(image, header, index);
    if (table.sh_type != SHT_STRTAB || table.sh_size == 0 ||
        !image_holds(image, table.sh_offset, table.sh_size) ||
        image->bytes[table.sh_offset + table.sh_size - 1] != '\0')
        return assay_error("cubin: its section names are out of bounds");
    *names = (struct image){image->bytes + table.sh_offset, table.sh_size};
    return 0;
}

int cubin_each_function(const void *bytes, size_t size,
                        void (*each)(const char *name, struct code_hash hash, void *context),
                        void *context)
{
    static const char prefix[] = ".text.";
    struct image image = {bytes, size}, names = {NULL, 0};
    Elf64_Ehdr header;
    uint64_t count;
    if (read_header(&image, &header) || read_layout(&image, &header, &count, &names)) return -1;

    int found = 0;
    for (uint64_t i = 1; i < count; i++) {
        Elf64_Shdr section = section_at(&image, &header, i);
        if (section.sh_type != SHT_PROGBITS) continue;
        if (section.sh_name >= names.size)
            return assay_error("cubin: a section's name is out of bounds");
        const char *name = (const char *)names.bytes + section.sh_name;
        if (strncmp(name, prefix, sizeof prefix - 1)) continue;
        if (!image_holds(&image, section.sh_offset, section.sh_size))
            return assay_error("cubin: the code of a function is out of bounds");
        each(name + sizeof prefix - 1,
             code_hash_of(image.bytes + section.sh_offset, section.sh_size), context);
        found++;
    }
    return found;
}
