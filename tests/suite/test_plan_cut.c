/* test_plan_cut.c - shares of a plan: every group in one of them, and about equally long. */
#include "suite/plan_cut.h"
#include "tests/suite/plan_fixture.h"

/* Groups of very different work, in the order that a suite has them. */
static const char sizes[] = "[group a]\noperation = scale\nn = 1Ki..900M*2\nvariants = plain\n"
                            "[group b]\noperation = stream\nbytes = 1Mi, 1Gi\nmix = *\n";

static int64_t load_of(const int *share, const int64_t *cost, int count, int index)
{
    int64_t load = 0;
    for (int i = 0; i < count; i++)
        load += share[i] == index ? cost[i] : 0;
    return load;
}

TEST(shares_are_a_partition_in_the_order_of_the_plan)
{
    struct plan all = make(sizes, &fake_host, &whole);
    assert_in_range(all.count, 10, 100);
    for (int shares = 1; shares <= all.count + 2; shares++) {
        int share[100], seen = 0;
        assert_int_equal(plan_cut(&all, shares, NULL, share), 0);
        for (int index = 1; index <= shares; index++) {
            struct plan part = make(sizes, &fake_host, &whole);
            plan_keep(&part, share, index);
            for (int i = 0, at = 0; i < part.count; i++, at++) {
                while (at < all.count && share[at] != index)
                    at++;
                assert_in_range(at, 0, all.count - 1);
                assert_true(shape_equal(&part.groups[i].shape, &all.groups[at].shape));
                assert_int_equal(part.groups[i].variant_count, all.groups[at].variant_count);
            }
            seen += part.count;
            plan_release(&part);
        }
        assert_int_equal(seen, all.count);
    }
    plan_release(&all);
}

TEST(more_shares_than_groups_leave_the_rest_empty)
{
    struct plan all = make(sizes, &fake_host, &whole);
    int share[100];
    assert_int_equal(plan_cut(&all, all.count + 3, NULL, share), 0);
    for (int i = 0; i < all.count; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(share[i], share[j]);
    plan_release(&all);
}

/* Graham's bound; the best is no less than the mean, or the longest group. */
TEST(shares_are_about_equally_long_by_what_groups_took)
{
    struct plan all = make(sizes, &fake_host, &whole);
    int share[100];
    int64_t cost[100], longest = 0, sum = 0;
    for (int i = 0; i < all.count; i++) {
        cost[i] = 1000 + 7919 * (i * i % 23);
        sum += cost[i];
        if (cost[i] > longest) longest = cost[i];
    }
    for (int shares = 2; shares <= 6; shares++) {
        int64_t best = sum / shares > longest ? sum / shares : longest;
        assert_int_equal(plan_cut(&all, shares, cost, share), 0);
        for (int index = 1; index <= shares; index++)
            assert_true(3 * load_of(share, cost, all.count, index) <= 4 * best);
    }
    plan_release(&all);
}

TEST(large_work_does_not_share_with_other_large_work)
{
    static const char two_large[] = "[group a]\noperation = scale\nvariants = plain\nn = 1Ki, "
                                    "1000000000, 2Ki, 4Ki, 999999999\n";
    struct plan all = make(two_large, &fake_host, &whole);
    int share[8], large[2], found = 0;
    assert_int_equal(plan_cut(&all, 2, NULL, share), 0);
    for (int i = 0; i < all.count; i++)
        if (all.groups[i].shape.value[0] >= 999999999) large[found++] = share[i];
    assert_int_equal(found, 2);
    assert_int_not_equal(large[0], large[1]);
    plan_release(&all);
}

/* A cost that is known counts, also beside groups whose cost is estimated. */
TEST(what_is_not_known_is_scaled_to_what_is)
{
    static const char alike[] =
        "[group a]\noperation = scale\nvariants = plain\nn = 1000, 1001, 1002, 1003\n";
    struct plan all = make(alike, &fake_host, &whole);
    int share[4];
    const int64_t cost[] = {3000000, -1, 1000000, -1}; /* so the others: 2 s */
    assert_int_equal(plan_cut(&all, 2, cost, share), 0);
    assert_int_equal(share[0], share[2]);
    assert_int_equal(share[1], share[3]);
    assert_int_not_equal(share[0], share[1]);
    plan_release(&all);
}

int main(void)
{
    return test_main(enter_suite_folder, leave_suite_folder);
}
