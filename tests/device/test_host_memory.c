/* test_host_memory.c - checksums and poison of memory of any length. */
#include <stdlib.h>
#include <string.h>

#include "device/elements.h"
#include "device/host/host_memory.h"
#include "tests/test.h"

/* Less than a word, words and some bytes, more than one thread takes at a time. */
static const size_t lengths[] = {1, 7, 8, 1021, 3 * 65536 * 8 + 5};
enum { LENGTHS = sizeof lengths / sizeof lengths[0], GUARD = 16 };

static uint64_t checksum(const void *memory, size_t bytes)
{
    uint64_t sum;
    assert_int_equal(host_memory_checksum(NULL, memory, bytes, &sum), 0);
    return sum;
}

TEST(a_byte_that_changes_anywhere_changes_the_checksum)
{
    for (int i = 0; i < LENGTHS; i++) {
        size_t bytes = lengths[i], places[] = {0, bytes / 2, bytes - 1};
        unsigned char *memory = calloc(bytes, 1);
        assert_non_null(memory);
        uint64_t zeros = checksum(memory, bytes);
        for (int j = 0; j < 3; j++) {
            memory[places[j]] = 1;
            assert_true(checksum(memory, bytes) != zeros);
            memory[places[j]] = 0;
        }
        assert_true(checksum(memory, bytes) == zeros);
        free(memory);
    }
}

TEST(words_that_change_places_change_the_checksum)
{
    uint64_t words[] = {1, 2, 3, 4}, swapped[] = {2, 1, 3, 4};
    assert_true(checksum(words, sizeof words) != checksum(swapped, sizeof swapped));
}

TEST(poison_is_of_seed_and_place_to_the_last_byte_and_not_beyond)
{
    for (int i = 0; i < LENGTHS; i++) {
        size_t bytes = lengths[i];
        unsigned char *memory = calloc(bytes + GUARD, 1);
        assert_non_null(memory);
        assert_int_equal(host_memory_poison(NULL, memory, bytes, 7), 0);
        for (size_t at = 0; at < bytes; at++)
            assert_int_equal(memory[at], poison_word(7, (int64_t)at / 8) >> 8 * (at % 8) & 255);
        for (size_t at = bytes; at < bytes + GUARD; at++)
            assert_int_equal(memory[at], 0);
        free(memory);
    }
}
