/*
 * test_rng.c - the seeded generators.
 */

#include <math.h>
#include <stdbool.h>

#include "tests/test.h"
#include "base/rng.h"

/* The first numbers of the authors' own code from the state 1, 2, 3, 4. */
TEST(the_sequence_is_that_of_xoshiro256_starstar)
{
    static const uint64_t expected[] = {
        11520u,
        0u,
        1509978240u,
        1215971899390074240u,
        1216172134540287360u,
        607988272756665600u,
        16172922978634559625u,
        8476171486693032832u,
    };
    struct rng rng = {{1, 2, 3, 4}};
    for (int i = 0; i < 8; i++)
        assert_true(rng_next(&rng) == expected[i]);
}

/* splitmix64's first four numbers from 1234567, as published with it. */
TEST(a_seed_becomes_four_words_of_splitmix64)
{
    struct rng rng;
    rng_seed(&rng, 1234567);
    assert_true(rng.s[0] == 6457827717110365317u);
    assert_true(rng.s[1] == 3203168211198807973u);
    assert_true(rng.s[2] == 9817491932198370423u);
    assert_true(rng.s[3] == 4593380528125082431u);
}

TEST(seed_zero_works)
{
    struct rng rng;
    rng_seed(&rng, 0);
    assert_true(rng.s[0] || rng.s[1] || rng.s[2] || rng.s[3]);
    assert_true(rng_next(&rng) != rng_next(&rng));
}

TEST(one_seed_gives_one_sequence_and_another_another)
{
    struct rng a, b, c;
    rng_seed(&a, 7);
    rng_seed(&b, 7);
    rng_seed(&c, 8);
    int equal = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t number = rng_next(&a);
        assert_true(number == rng_next(&b));
        equal += number == rng_next(&c);
    }
    assert_int_equal(equal, 0);
}

/* Whether every one of `bins` counts of `total` even draws is within 5 standard
 * deviations of its share. */
static bool is_even(const int *count, int bins, int total)
{
    double p = 1.0 / bins;
    for (int i = 0; i < bins; i++)
        if (fabs(count[i] - total * p) > 5 * sqrt(total * p * (1 - p))) return false;
    return true;
}

TEST(numbers_below_a_bound_are_even)
{
    enum { DRAWS = 70000 };
    struct rng rng;
    rng_seed(&rng, 1);
    for (int bound = 1; bound <= 7; bound++) {
        int count[7] = {0};
        for (int i = 0; i < DRAWS; i++) {
            uint64_t drawn = rng_below(&rng, (uint64_t)bound);
            assert_true(drawn < (uint64_t)bound);
            count[drawn]++;
        }
        assert_true(is_even(count, bound, DRAWS));
    }
}

/* A plain remainder by 3 * 2^62 would give the first third twice as often. */
TEST(a_huge_bound_has_no_bias)
{
    enum { DRAWS = 30000 };
    struct rng rng;
    rng_seed(&rng, 2);
    int count[3] = {0};
    for (int i = 0; i < DRAWS; i++)
        count[rng_below(&rng, UINT64_C(3) << 62) >> 62]++;
    assert_true(is_even(count, 3, DRAWS));
}

TEST(every_order_is_as_likely)
{
    enum { DRAWS = 24000 };
    struct rng rng;
    rng_seed(&rng, 3);
    int count[24] = {0};
    for (int i = 0; i < DRAWS; i++) {
        int v[4] = {0, 1, 2, 3};
        rng_shuffle(&rng, v, 4);
        /* The order's number, digit by digit in the factorial system. */
        int first = v[0], second = v[1] - (v[1] > v[0]);
        int third = v[2] > v[3];
        count[first * 6 + second * 2 + third]++;
    }
    assert_true(is_even(count, 24, DRAWS));
}

TEST(a_shuffle_keeps_every_value)
{
    struct rng rng;
    rng_seed(&rng, 4);
    int values[100];
    bool seen[100] = {false};
    for (int i = 0; i < 100; i++)
        values[i] = i;
    rng_shuffle(&rng, values, 100);
    for (int i = 0; i < 100; i++)
        seen[values[i]] = true;
    for (int i = 0; i < 100; i++)
        assert_true(seen[i]);
    rng_shuffle(&rng, values, 1);
    rng_shuffle(&rng, values, 0);
}

TEST(every_seed_and_stream_mix_to_a_seed_of_their_own)
{
    enum { SIDE = 40 };
    static uint64_t mixed[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        mixed[i] = rng_mix((uint64_t)(i / SIDE), (uint64_t)(i % SIDE));
        for (int j = 0; j < i; j++)
            assert_true(mixed[j] != mixed[i]);
    }
    assert_true(rng_mix(3, 5) == rng_mix(3, 5));
}
