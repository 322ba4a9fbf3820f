/* test_counts.c - a gate by what launches count: what is more work, and what is only another
 * launch. */
#include <math.h>
#include <stdlib.h>

#include "tests/test.h"
#include "base/rng.h"
#include "judge/counts.h"

static struct profile_counts usual(void)
{
    struct profile_counts counts = {{0}};
    counts.value[COUNT_LAUNCHES] = 2;
    counts.value[COUNT_INSTRUCTIONS] = 1e6;
    counts.value[COUNT_REGISTERS] = 72;
    counts.value[COUNT_SHARED_BYTES] = 4096;
    counts.value[COUNT_WARPS] = 128;
    return counts;
}

/* All launches of a side alike; those of the candidate with one count changed. */
static struct counted_case changed(enum profile_count count, double to)
{
    struct counted_case one = {.rounds = {COUNTS_ROUNDS, COUNTS_ROUNDS}};
    for (int i = 0; i < COUNTS_ROUNDS; i++) {
        one.base[i] = one.candidate[i] = usual();
        one.candidate[i].value[count] = to;
    }
    return one;
}

TEST(more_work_is_a_regression)
{
    static const struct {
        enum profile_count count;
        double to;
        enum verdict verdict;
        const char *reason;
    } cases[] = {
        {COUNT_INSTRUCTIONS, 1e6, VERDICT_PASS, ""},
        {COUNT_INSTRUCTIONS, 1.0009e6, VERDICT_PASS, ""},
        {COUNT_INSTRUCTIONS, 1.0012e6, VERDICT_REGRESSED, "warp instructions +0.12 %"},
        {COUNT_INSTRUCTIONS, 0.9e6, VERDICT_IMPROVED, "warp instructions -10 %"},
        {COUNT_LOCAL_LOADS, 1, VERDICT_REGRESSED, "local loads 0 to 1"},
        {COUNT_LOCAL_STORES, 64, VERDICT_REGRESSED, "local stores 0 to 64"},
        {COUNT_LOCAL_BYTES, 8, VERDICT_REGRESSED, "local bytes per thread 0 to 8"},
        {COUNT_LAUNCHES, 3, VERDICT_REGRESSED, "launches 2 to 3"},
        {COUNT_LAUNCHES, 1, VERDICT_IMPROVED, "launches 2 to 1"},
        {COUNT_WARPS, 127, VERDICT_REGRESSED, "resident warps 128 to 127"},
        {COUNT_WARPS, 129, VERDICT_IMPROVED, "resident warps 128 to 129"},
        {COUNT_REGISTERS, 73, VERDICT_PASS, "registers 72 to 73"},
        {COUNT_SHARED_BYTES, 0, VERDICT_PASS, "shared bytes 4096 to 0"},
        {COUNT_INSTRUCTIONS, NAN, VERDICT_INCONCLUSIVE, "warp instructions on one side only"},
    };
    char reason[ASSAY_MAX_REASON];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct counted_case one = changed(cases[i].count, cases[i].to);
        assert_int_equal(counts_judge(&one, reason), cases[i].verdict);
        assert_string_equal(reason, cases[i].reason);
        assert_int_equal(counts_differ(&one), cases[i].reason[0] != '\0');
    }
}

TEST(what_is_worse_outranks_what_is_better)
{
    char reason[ASSAY_MAX_REASON];
    struct counted_case one = changed(COUNT_INSTRUCTIONS, 0.5e6);
    for (int i = 0; i < COUNTS_ROUNDS; i++)
        one.candidate[i].value[COUNT_LOCAL_LOADS] = 10;
    assert_int_equal(counts_judge(&one, reason), VERDICT_REGRESSED);
    assert_string_equal(reason, "warp instructions -50 %, local loads 0 to 10");
}

/* A kernel that spins, in one launch of one side. */
TEST(what_a_launch_does_is_no_change)
{
    char reason[ASSAY_MAX_REASON];
    struct counted_case one = changed(COUNT_INSTRUCTIONS, 1.1e6);
    one.candidate[1].value[COUNT_INSTRUCTIONS] = 1.2e6;
    assert_int_equal(counts_judge(&one, reason), VERDICT_INCONCLUSIVE);
    assert_string_equal(reason, "warp instructions not the same in each launch");
    /* In spite of that it has one launch more. */
    for (int i = 0; i < COUNTS_ROUNDS; i++)
        one.candidate[i].value[COUNT_LAUNCHES] = 3;
    assert_int_equal(counts_judge(&one, reason), VERDICT_REGRESSED);
}

TEST(without_counters_nothing_is_said)
{
    char reason[ASSAY_MAX_REASON];
    struct counted_case one = changed(COUNT_INSTRUCTIONS, NAN);
    for (int i = 0; i < COUNTS_ROUNDS; i++)
        one.base[i].value[COUNT_INSTRUCTIONS] = NAN;
    assert_int_equal(counts_judge(&one, reason), VERDICT_INCONCLUSIVE);
    assert_string_equal(reason, "no hardware counters were read");
    one.rounds[1] = 0;
    assert_int_equal(counts_judge(&one, reason), VERDICT_INCONCLUSIVE);
    assert_false(counts_differ(&one));
}

/* Each launch counts a little else, as it comes: normal, in two modes, rarely much more. */
static double drawn(struct rng *rng, int kind)
{
    double u = (double)(rng_next(rng) >> 11) / 9007199254740992.0;
    if (kind == 0) return 1e6;
    if (kind == 1) return 1e6 * (1 + 0.0004 * u);
    if (kind == 2) return 1e6 * (1 + 0.05 * u);
    if (kind == 3) return u < 0.5 ? 1e6 : 1.01e6;
    return u < 0.1 ? 1.5e6 : 1e6;
}

/* As the gate does: a round, and four more where that differs. */
static enum verdict gated(struct counted_case *one, struct rng *rng, int kind)
{
    char reason[ASSAY_MAX_REASON];
    *one = changed(COUNT_LAUNCHES, 2);
    for (int i = 0; i < COUNTS_ROUNDS; i++) {
        one->base[i].value[COUNT_INSTRUCTIONS] = drawn(rng, kind);
        one->candidate[i].value[COUNT_INSTRUCTIONS] = drawn(rng, kind);
    }
    one->rounds[0] = one->rounds[1] = 1;
    if (counts_differ(one)) one->rounds[0] = one->rounds[1] = COUNTS_ROUNDS;
    return counts_judge(one, reason);
}

TEST(unchanged_code_is_hardly_ever_called_changed)
{
    static const int most[] = {0, 0, 0, 6, 0}; /* of 1000; of two even modes 2^-10 are expected */
    struct counted_case one;
    struct rng rng;
    rng_seed(&rng, 77);
    for (int kind = 0; kind < 5; kind++) {
        int alarms = 0, decided = 0;
        for (int i = 0; i < 1000; i++) {
            enum verdict verdict = gated(&one, &rng, kind);
            alarms += verdict == VERDICT_REGRESSED;
            decided += verdict == VERDICT_PASS;
        }
        assert_in_range(alarms, 0, most[kind]);
        if (kind < 2) assert_int_equal(decided, 1000);
    }
}
