#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "device/cuda/host_words.h"

static const uint64_t UPPER = ~(uint64_t)0xffffffff;

static uint64_t word_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static void addresses_of_the_host_are_one_and_the_same(void **state)
{
    (void)state;
    char here = 0;
    void *heap = malloc(1);
    assert_non_null(heap);
    uint64_t plain = host_words_plain(word_of(&here));
    assert_int_not_equal(plain, word_of(&here));
    assert_int_equal(plain, host_words_plain(word_of(heap)));
    assert_int_equal(plain, host_words_plain(word_of(stdout)));
    free(heap);
}

/* A number in the lower half, and behind it what the stack held. */
static void the_lower_half_counts_where_the_whole_is_no_address(void **state)
{
    (void)state;
    char here = 0;
    uint64_t stack = word_of(&here) & UPPER, library = word_of(stdout) & UPPER;
    assert_int_not_equal(stack, host_words_plain(stack | 1234));
    assert_int_equal(host_words_plain(stack | 1234), host_words_plain(library | 1234));
    assert_int_equal(1234, (uint32_t)host_words_plain(stack | 1234));
    assert_int_not_equal(host_words_plain(stack | 1234), host_words_plain(stack | 1235));
}

static void numbers_stay_as_they_are(void **state)
{
    (void)state;
    const uint64_t numbers[] = {0,
                                7,
                                (uint64_t)2 << 32 | 5,
                                (uint64_t)4096 << 32 | 4096,
                                0x3ff0000000000000,
                                0x7fffffff,
                                UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(numbers[i], host_words_plain(numbers[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_the_host_are_one_and_the_same),
        cmocka_unit_test(the_lower_half_counts_where_the_whole_is_no_address),
        cmocka_unit_test(numbers_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
