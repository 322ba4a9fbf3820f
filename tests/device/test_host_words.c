#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "device/cuda/host_words.h"
#include "device/cuda/trace_acts.h"

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

static const uint64_t ALLOCATION = 0x7efd99810000;

static bool find_allocation(uint64_t address, struct trace_range *range)
{
    if (address - ALLOCATION >= 4096) return false;
    *range = (struct trace_range){.begin = ALLOCATION, .bytes = 4096, .id = 1};
    return true;
}

/* A number, what is behind it, and an address of the allocation. */
static uint64_t hash_of(uint32_t number, uint32_t gap)
{
    struct trace_acts *acts = trace_acts_new(find_allocation, host_words_plain);
    assert_non_null(acts);
    const uint64_t words[] = {(uint64_t)gap << 32 | number, ALLOCATION + 16};
    uint64_t hash = trace_bytes(acts, words, sizeof words).word[0];
    trace_acts_free(acts);
    return hash;
}

static void the_upper_half_of_an_allocation_in_a_gap_is_nothing(void **state)
{
    (void)state;
    assert_int_equal(hash_of(64, 0), hash_of(64, ALLOCATION >> 32));
    assert_int_not_equal(hash_of(64, 0), hash_of(65, ALLOCATION >> 32));
    assert_int_not_equal(hash_of(64, 0), hash_of(64, 3));
}

static void a_library_leaves_the_first_word_of_a_matrix_unset(void **state)
{
    (void)state;
    static const char magma[] = "_Z20magma_sgemmEx_kernelIfffLb1ELb0ELi6EEviii";
    assert_int_equal(host_words_unset(magma, 24), 8);
    assert_int_equal(host_words_unset(magma, 40), 8);
    assert_int_equal(host_words_unset(magma, 8), 0);
    assert_int_equal(host_words_unset("_Z6gemm_ni", 24), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_of_the_host_is_nothing),
        cmocka_unit_test(the_lower_half_counts_where_the_whole_is_no_address),
        cmocka_unit_test(numbers_stay_as_they_are),
        cmocka_unit_test(the_upper_half_of_an_allocation_in_a_gap_is_nothing),
        cmocka_unit_test(a_library_leaves_the_first_word_of_a_matrix_unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
