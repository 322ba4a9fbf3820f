#include "device/cuda/trace_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { FEW_BYTES = 1 << 16, PARAMETER_BYTES = 1 << 12, ALIGNMENT = 256 };
static const uint64_t LEAST_ADDRESS = (uint64_t)1 << 32; /* below it a word is a number */

void trace_places_forget(struct trace_places *places)
{
    free(places->handles);
    free(places->ranges);
    *places = (struct trace_places){.lookup = places->lookup, .plain = places->plain};
}

int trace_places_handle(struct trace_places *places, const void *handle)
{
    for (int i = 0; i < places->handle_count; i++)
        if (places->handles[i] == handle) return i + 1;
    const void **added =
        grow_add(&places->handles, &places->handle_count, sizeof *added, "handles of a trace");
    places->is_incomplete |= !added;
    if (!added) return 0;
    *added = handle;
    return places->handle_count;
}

/* Its number is free, and not given again: whether the next one is made at the same address differs
 * from process to process. */
void trace_places_handle_gone(struct trace_places *places, const void *handle)
{
    for (int i = 0; i < places->handle_count; i++)
        if (places->handles[i] == handle) places->handles[i] = places; /* which is none */
}

/* The number of the range, from 1; 0: the address is in none. */
static int find_range(struct trace_places *places, uint64_t address, struct trace_range *range)
{
    if (address < LEAST_ADDRESS || !places->lookup(address, range)) return 0;
    for (int i = 0; i < places->range_count; i++)
        if (places->ranges[i].begin == range->begin && places->ranges[i].bytes == range->bytes &&
            places->ranges[i].id == range->id)
            return i + 1;
    struct trace_range *added =
        grow_add(&places->ranges, &places->range_count, sizeof *added, "ranges of a trace");
    places->is_incomplete |= !added;
    if (!added) return 0;
    *added = *range;
    return places->range_count;
}

/* What an address is, in numbers. */
struct place {
    uint64_t range, bytes, offset, alignment;
};

static bool find_place(struct trace_places *places, uint64_t address, struct place *place)
{
    struct trace_range range;
    int number = find_range(places, address, &range);
    if (number == 0) return false;
    *place = (struct place){(uint64_t)number, range.bytes, address - range.begin,
                            range.begin % ALIGNMENT};
    return true;
}

void trace_places_address(struct trace_places *places, uint64_t address, char out[TRACE_ADDRESS])
{
    struct place place;
    if (find_place(places, address, &place))
        snprintf(out, TRACE_ADDRESS, "range %" PRIu64 " of %" PRIu64 " bytes + %" PRIu64 "%s",
                 place.range, place.bytes, place.offset, place.alignment ? ", not aligned" : "");
    else
        snprintf(out, TRACE_ADDRESS, "host");
}

bool trace_places_is_device(struct trace_places *places, uint64_t address)
{
    struct trace_range range;
    return find_range(places, address, &range) != 0 && !range.on_host;
}

/* Where a structure has a gap of four bytes they may be the upper half of an address that was
 * there: of the host, or of an allocation. What is below MANY could be a number. */
static uint64_t plain_word(const struct trace_places *places, uint64_t word, bool *reads_host)
{
    const uint64_t MANY = 0x4000, half = word >> 32;
    bool is_read = false;
    for (int i = 0; half >= MANY && i < places->range_count; i++)
        if (places->ranges[i].begin >> 32 == half) return (uint32_t)word;
    word = places->plain(word, &is_read);
    *reads_host |= is_read;
    return word;
}

/* What is too long for a question per word is hashed as it is. */
struct code_hash trace_places_hash(struct trace_places *places, const void *bytes, size_t size,
                                   bool *reads_host)
{
    struct code_hash hash = {{size, 0}};
    const unsigned char *at = bytes;
    uint64_t word;
    if (size > FEW_BYTES) return code_hash_of(bytes, size);
    /* All allocations first: a gap before an address may hold the half of it. */
    for (size_t i = 0; size <= PARAMETER_BYTES && i + sizeof word <= size; i += sizeof word) {
        struct trace_range range;
        memcpy(&word, at + i, sizeof word);
        (void)find_range(places, word, &range);
    }
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        struct place place;
        memcpy(&word, at, sizeof word);
        if (find_place(places, word, &place)) {
            *reads_host |= places->ranges[place.range - 1].on_host;
            code_hash_add(&hash, &place, sizeof place);
        } else {
            word = plain_word(places, word, reads_host);
            code_hash_add(&hash, &word, sizeof word);
        }
    }
    if (size > 0) code_hash_add(&hash, at, size);
    return hash;
}
