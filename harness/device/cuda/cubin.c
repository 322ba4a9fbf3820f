#include <string.h>

#include "device/cuda/cubin.h"
#include "device/cuda/cubin_sections.h"

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

/* ------------------------------------------------------------- functions -- */

int cubin_each_function(const void *bytes, size_t size,
                        void (*each)(const char *name, struct code_hash hash, void *context),
                        void *context)
{
    static const char prefix[] = ".text.";
    struct cubin_sections sections;
    if (cubin_sections_open(&sections, bytes, size)) return -1;
    int found = 0;
    for (uint64_t i = 1; i < sections.count; i++) {
        struct cubin_section section;
        if (cubin_section_read(&sections, i, &section)) return -1;
        if (!section.is_code || strncmp(section.name, prefix, sizeof prefix - 1)) continue;
        each(section.name + sizeof prefix - 1, code_hash_of(section.bytes, section.size), context);
        found++;
    }
    return found;
}
