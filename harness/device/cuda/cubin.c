#include <string.h>

#include "assay.h"
#include "base/error.h"
#include "base/text.h"
#include "device/cuda/cubin.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

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

void code_hash_add(struct code_hash *hash, const void *bytes, size_t size)
{
    struct code_hash both[2] = {*hash, code_hash_of(bytes, size)};
    *hash = code_hash_of(both, sizeof both);
}

int cubin_open(struct elf_file *elf, const void *bytes, size_t size)
{
    if (elf_open(elf, bytes, size)) return assay_error("cubin: %s", assay_last_error());
    return elf->header.e_machine == EM_CUDA ? 0
                                            : assay_error("cubin: not a 64-bit ELF file for CUDA");
}

/* From the ABI of CUDA 12.9 (version 8) on, its second byte; the first before that. */
int cubin_architecture(const struct elf_file *elf)
{
    uint32_t flags = elf->header.e_flags;
    return (int)(elf->header.e_ident[EI_ABIVERSION] >= 8 ? flags >> 8 & 0xff : flags & 0xff);
}

int cubin_each_function(const void *bytes, size_t size,
                        void (*each)(const char *name, struct code_hash hash, void *context),
                        void *context)
{
    struct elf_file sections;
    if (cubin_open(&sections, bytes, size)) return -1;
    int found = 0;
    for (uint64_t i = 1; i < sections.count; i++) {
        struct elf_section section;
        if (elf_section_read(&sections, i, &section)) return -1;
        const char *name = text_begins(section.name, ".text.");
        if (section.header.sh_type != SHT_PROGBITS || !name) continue;
        each(name, code_hash_of(section.bytes, section.size), context);
        found++;
    }
    return found;
}
