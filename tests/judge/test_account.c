/* test_account.c - the terms of a difference of times: what changed alone is what it goes to, and
 * the terms and what is unexplained are the difference. */
#include <math.h>

#include "tests/test.h"
#include "base/rng.h"
#include "judge/account.h"

/* Three kernels with a gap between each, and work that the memory does not bind. */
static struct account_facts usual(void)
{
    return (struct account_facts){.time_ns = 50000,
                                  .launches = 3,
                                  .start_ns = 1100,
                                  .gaps_ns = 1000,
                                  .sm_mhz = 1980,
                                  .bytes = 1e8,
                                  .instructions = 4e6,
                                  .issue_share = 0.4,
                                  .memory_share = 0.3};
}

static double work_ns(const struct account_facts *facts)
{
    return facts->time_ns - facts->gaps_ns - facts->launches * facts->start_ns;
}

static struct account_facts unknown(double time_ns)
{
    return (struct account_facts){time_ns, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

static void is_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-6);
}

/* All of the difference is in one term. */
static void is_all(const struct account_facts *base, const struct account_facts *candidate,
                   enum account_term term)
{
    struct account account = account_make(base, candidate);
    assert_true(fabs(account.difference_ns) > 1);
    for (int i = 0; i < ACCOUNT_TERMS; i++)
        is_near(account.term_ns[i], i == (int)term ? account.difference_ns : 0);
    is_near(account.unexplained_ns, 0);
}

TEST(what_changed_alone_has_all_of_it)
{
    for (int back = 0; back < 2; back++) {
        struct account_facts a = usual(), b = usual();
        b.sm_mhz = 1500;
        b.time_ns += work_ns(&a) * (1980.0 / 1500 - 1);
        is_all(back ? &b : &a, back ? &a : &b, TERM_CLOCK);

        b = usual();
        b.instructions *= 1.7;
        b.time_ns += work_ns(&a) * 0.7;
        is_all(back ? &b : &a, back ? &a : &b, TERM_INSTRUCTIONS);

        b = usual();
        b.issue_share /= 1.25;
        b.time_ns += work_ns(&a) * 0.25;
        is_all(back ? &b : &a, back ? &a : &b, TERM_WAITS);

        b = usual();
        b.gaps_ns += 4000;
        b.time_ns += 4000;
        is_all(back ? &b : &a, back ? &a : &b, TERM_GAPS);

        /* Two launches more, each with a gap as the others have. */
        b = usual();
        b.launches = 5;
        b.gaps_ns = 2000;
        b.time_ns += 2 * 1100 + 1000;
        is_all(back ? &b : &a, back ? &a : &b, TERM_LAUNCHES);

        a.memory_share = 0.9;
        b = a;
        b.bytes *= 2;
        b.time_ns += work_ns(&a);
        is_all(back ? &b : &a, back ? &a : &b, TERM_BYTES);
    }
}

TEST(one_launch_that_becomes_two_has_its_gap)
{
    struct account_facts a = usual(), b = usual();
    a.launches = 1;
    a.gaps_ns = 0;
    a.time_ns = 40000;
    b.launches = 2;
    b.gaps_ns = 700;
    b.time_ns = 40000 + 1100 + 700;
    is_all(&a, &b, TERM_LAUNCHES);
}

/* The clock of the multiprocessors has no part where the memory binds. */
TEST(memory_that_binds_has_its_own_clock)
{
    struct account_facts a = usual(), b = usual();
    a.memory_share = b.memory_share = 0.9;
    b.sm_mhz = 1500;
    struct account account = account_make(&a, &b);
    for (int i = 0; i < ACCOUNT_TERMS; i++)
        is_near(account.term_ns[i], 0);
    is_near(account.unexplained_ns, 0);
    /* And it waits where it moves the same bytes more slowly. */
    b.memory_share = 0.85;
    a.memory_share = 0.85 * 1.05;
    b.time_ns += 0.05 * work_ns(&a);
    is_near(account_make(&a, &b).term_ns[TERM_WAITS], b.time_ns - a.time_ns);
}

TEST(what_is_not_known_is_unexplained)
{
    struct account_facts a = unknown(1000), b = unknown(1500);
    struct account account = account_make(&a, &b);
    for (int i = 0; i < ACCOUNT_TERMS; i++)
        assert_true(isnan(account.term_ns[i]));
    is_near(account.unexplained_ns, 500);

    /* Without counters: launches, gaps and the clock. */
    a.launches = b.launches = 1;
    a.gaps_ns = b.gaps_ns = 0;
    a.sm_mhz = 1980;
    b.sm_mhz = 1320;
    account = account_make(&a, &b);
    is_near(account.term_ns[TERM_CLOCK], 500);
    is_near(account.term_ns[TERM_LAUNCHES], 0);
    assert_true(isnan(account.term_ns[TERM_BYTES]) && isnan(account.term_ns[TERM_INSTRUCTIONS]) &&
                isnan(account.term_ns[TERM_WAITS]));
    is_near(account.unexplained_ns, 0);

    /* A side alone is not enough. */
    a.instructions = 100;
    assert_true(isnan(account_make(&a, &b).term_ns[TERM_INSTRUCTIONS]));
    /* And the share of a ceiling, without bytes that were counted, says where, not how much. */
    a.memory_share = b.memory_share = 0.95;
    account = account_make(&a, &b);
    is_near(account.term_ns[TERM_CLOCK], 0);
    assert_true(isnan(account.term_ns[TERM_WAITS]));
    is_near(account.unexplained_ns, 500);
}

/* 0 would say that a launch more takes no time. */
TEST(a_launch_more_whose_start_is_not_known_is_unexplained)
{
    struct account_facts a = unknown(1000), b = unknown(1500);
    a.launches = 1;
    b.launches = 2;
    struct account account = account_make(&a, &b);
    assert_true(isnan(account.term_ns[TERM_LAUNCHES]));
    is_near(account.unexplained_ns, 500);
    a.gaps_ns = 0;
    b.gaps_ns = 500;
    is_near(account_make(&a, &b).term_ns[TERM_LAUNCHES], 500);
}

/* Launches that overlap, whose starts alone would be more than the time. */
TEST(starts_are_no_more_than_the_time)
{
    struct account_facts a = usual(), b = usual();
    a.launches = b.launches = 60;
    a.gaps_ns = b.gaps_ns = 0;
    b.instructions *= 2;
    b.time_ns *= 2;
    is_all(&a, &b, TERM_INSTRUCTIONS);
}

/* From 0 up to 1. */
static double share(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static double drawn(struct rng *rng, double least, double most)
{
    return least * pow(most / least, share(rng));
}

TEST(it_adds_up_whatever_the_facts)
{
    struct rng rng;
    rng_seed(&rng, 21);
    for (int round = 0; round < 20000; round++) {
        struct account_facts sides[2];
        for (int i = 0; i < 2; i++) {
            double time_ns = drawn(&rng, 600, 1e7);
            sides[i] = (struct account_facts){.time_ns = time_ns,
                                              .launches = floor(drawn(&rng, 1, 30)),
                                              .start_ns = drawn(&rng, 500, 2000),
                                              .gaps_ns = time_ns * share(&rng),
                                              .sm_mhz = drawn(&rng, 300, 2000),
                                              .bytes = drawn(&rng, 1, 1e10),
                                              .instructions = drawn(&rng, 1, 1e9),
                                              .issue_share = share(&rng),
                                              .memory_share = share(&rng)};
            double *facts = &sides[i].launches;
            for (int k = 0; k < 8; k++)
                if (share(&rng) < 0.2) facts[k] = share(&rng) < 0.5 ? NAN : 0;
        }
        struct account there = account_make(&sides[0], &sides[1]);
        struct account back = account_make(&sides[1], &sides[0]);
        double sum = there.unexplained_ns, most = fabs(there.difference_ns);
        for (int i = 0; i < ACCOUNT_TERMS; i++) {
            assert_false(isinf(there.term_ns[i]));
            assert_int_equal(isnan(there.term_ns[i]), isnan(back.term_ns[i]));
            if (isnan(there.term_ns[i])) continue;
            sum += there.term_ns[i];
            most = fmax(most, fabs(there.term_ns[i]));
            assert_true(fabs(there.term_ns[i] + back.term_ns[i]) <= 1e-6 * most + 1e-6);
        }
        assert_true(fabs(sum - there.difference_ns) <= 1e-9 * most);
    }
}
