#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "device/cuda/host_words.h"

static const uint64_t UPPER = ~(uint64_t)0xffffffff;

static uint64_t word_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static uint64_t plain(uint64_t word)
{
    bool is_address;
    return host_words_plain(word, &is_address);
}

static void an_address_of_the_host_is_nothing(void **state)
{
    (void)state;
    char here = 0;
    void *heap = malloc(1);
    bool is_address = false;
    assert_non_null(heap);
    assert_int_equal(0, host_words_plain(word_of(&here), &is_address));
    assert_true(is_address);
    assert_int_equal(0, plain(word_of(heap)));
    assert_int_equal(0, plain(word_of(stdout)));
    free(heap);
}

/* A number in the lower half, and behind it what the stack held. */
static void the_lower_half_counts_where_the_whole_is_no_address(void **state)
{
    (void)state;
    char here = 0;
    uint64_t stack = word_of(&here) & UPPER, library = word_of(stdout) & UPPER;
    assert_int_equal(1234, plain(stack | 1234));
    assert_int_equal(1234, plain(library | 1234));
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
        assert_int_equal(numbers[i], plain(numbers[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_of_the_host_is_nothing),
        cmocka_unit_test(the_lower_half_counts_where_the_whole_is_no_address),
        cmocka_unit_test(numbers_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
