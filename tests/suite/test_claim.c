/* test_claim.c - what a claim may say, and which verdict a figure gets. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/shape.h"
#include "claims/claim_ledger.h"
#include "tests/fake_operations.h"
#include "suite/claim.h"
#include "suite/suite_file.h"
#include "tests/suite_folder.h"

#define HEAD "[claim a]\ndocument = d\nsays = s\n"
#define PAIR "more = scale/plain n=100\nless = scale/fast n=100\n"

static struct claims read_text(const char *text)
{
    struct claims claims;
    write_suite("c.ini", text);
    assay_clear_error();
    if (claims_read(&claims, "./c.ini")) fail_msg("%s", assay_last_error());
    return claims;
}

static void refuse(const char *text, const char *message)
{
    struct claims claims;
    write_suite("c.ini", text);
    assay_clear_error();
    assert_int_equal(claims_read(&claims, "./c.ini"), -1);
    if (!strstr(assay_last_error(), message))
        fail_msg("'%s' is not in: %s", message, assay_last_error());
}

/* ---------------------------------------------------------------- reading -- */

TEST(a_claim_has_two_cases_and_a_range)
{
    struct claims claims = read_text(HEAD "claimed = 7..8\nconditions = c\n"
                                          "more = scale/plain n=1k input=bf16 hot\n"
                                          "less = scale/fast n=1k input=bf16 hot\n");
    const struct claim *claim = claims.item;
    char text[256];
    assert_int_equal(claims.count, 1);
    assert_string_equal(claim->id, "a");
    assert_true(claim->least == 7 && claim->most == 8);
    const struct claim_case *more = &claim->side[CLAIM_MORE];
    assert_string_equal(more->operation, "scale");
    assert_string_equal(more->variant, "plain");
    shape_text(&more->shape, text, sizeof text);
    assert_string_equal(text, "n=1000 input=bf16");
    assert_int_equal(more->temperature, ASSAY_HOT);
    claim_claimed_text(claim, text, sizeof text);
    assert_string_equal(text, "7 to 8x");
    claims_release(&claims);
}

TEST(cases_of_one_group_are_measured_together)
{
    struct suite_group groups[CLAIM_SIDES];
    struct claims claims = read_text(HEAD "claimed = 2\n" PAIR);
    assert_int_equal(claim_groups(claims.item, groups), 1);
    assert_string_equal(groups[0].keys[1].name, "variants");
    assert_string_equal(groups[0].keys[1].value, "plain, fast");
    claims_release(&claims);
}

TEST(a_case_may_say_where_it_runs)
{
    struct suite_group groups[CLAIM_SIDES];
    struct claims claims = read_text(HEAD "claimed = 2\nmore = scale/plain n=100 cold host\n"
                                          "less = scale/fast n=100 host cold\n");
    assert_int_equal(claim_groups(claims.item, groups), 1);
    assert_string_equal(suite_key_find(&groups[0], "device")->value, "host");
    claims_release(&claims);
    refuse(HEAD "claimed = 2\nmore = scale/plain host cuda\nless = scale/fast\n", "there twice");
}

TEST(cases_of_two_shapes_are_two_groups)
{
    struct suite_group groups[CLAIM_SIDES];
    struct claims claims = read_text(HEAD "claimed = 2\nmore = scale/plain n=100 input=bf16\n"
                                          "less = scale/fast n=100\n");
    assert_int_equal(claim_groups(claims.item, groups), 2);
    claims_release(&claims);
}

TEST(a_suite_measures_what_its_claims_need)
{
    struct suite suite;
    write_suite("both.ini", "[group g]\noperation = stream\n" HEAD "claimed = 2\n" PAIR);
    if (suite_read(&suite, "./both.ini")) fail_msg("%s", assay_last_error());
    assert_int_equal(suite.group_count, 2);
    assert_string_equal(suite.groups[1].label, "a");
    suite_release(&suite);
}

TEST(every_mistake_has_its_line)
{
    refuse(HEAD "claimed = 2\nmore = scael/plain\nless = scale/fast\n",
           "c.ini:5: no operation is called 'scael' (did you mean 'scale'?)");
    refuse(HEAD "claimed = 2\nmore = scale/plian\nless = scale/fast\n", "c.ini:5: no variant");
    refuse(HEAD "claimed = 2\nmore = scale/plain m=3\nless = scale/fast\n",
           "c.ini:5: scale has no dim 'm'");
    refuse(HEAD "claimed = 2\nmore = scale/plain n=1,2\nless = scale/fast\n", "c.ini:5: n=1,2");
    refuse(HEAD "claimed = 2\nmore = scale/plain n=l2\nless = scale/fast\n", "c.ini:5: n=l2");
    refuse(HEAD "claimed = 2\nmore = scale\nless = scale/fast\n", "begins with operation/variant");
    refuse(HEAD "claimed = 2\nmore = scale/*\nless = scale/fast\n", "a case is of one variant");
    refuse(HEAD "claimed = 2\nmore = scale/plain warm\nless = scale/fast\n", "neither dim=value");
    refuse(HEAD "claimed = 2\nmore = scale/plain variants=x\nless = scale/fast\n", "no place");
    refuse(HEAD "claimed = two\n" PAIR, "c.ini:4: 'two' is not a number");
    refuse(HEAD "claimed = 3..2\n" PAIR, "ends before it begins");
    refuse(HEAD "claimed = ..\n" PAIR, "no range");
    refuse(HEAD "claimd = 2\n" PAIR, "did you mean 'claimed'?");
    refuse(HEAD "rule = guess\n" PAIR, "no rule is called 'guess'");
    refuse(HEAD PAIR, "c.ini:1: claim a: what is claimed?");
    refuse(HEAD "claimed = 2\nmore = scale/plain\n", "two cases are compared");
    refuse(HEAD "claimed = 2\nrule = value\n" PAIR, "a value has one case");
    refuse(HEAD "rule = none\n", "the note says why");
    refuse("[claim a]\nsays = s\nclaimed = 2\n" PAIR, "which document");
    refuse("[suite]\n", "there is no [claim] in it");
    refuse(HEAD "claimed = 2\n" PAIR HEAD "claimed = 2\n" PAIR, "there is a [claim a] already");
}

TEST(a_claim_may_await_its_cases)
{
    struct suite_group groups[CLAIM_SIDES];
    struct claims claims = read_text(HEAD "claimed = 2\nawaits = yes\nmore = soon/plain\n"
                                          "less = scale/fast\n");
    assert_string_equal(claims.item->missing,
                        "no such case in this program: no operation is called 'soon'");
    assert_int_equal(claim_groups(claims.item, groups), 0);
    claims_release(&claims);
}

/* --------------------------------------------------------------- verdicts -- */

static enum claim_verdict judged(double least, double most, double mid, double lo, double hi)
{
    struct claim claim = {.least = least, .most = most, .rule = RULE_RATIO};
    return claim_judge(&claim, (struct interval){mid, lo, hi});
}

TEST(a_figure_inside_the_range_holds)
{
    assert_int_equal(judged(7, 8, 7.4, 7.3, 7.5), CLAIM_HOLDS);
    assert_int_equal(judged(7, NAN, 900, 800, 1000), CLAIM_HOLDS);
    assert_int_equal(judged(7, 8, 7.4, NAN, NAN), CLAIM_HOLDS);
}

TEST(a_range_is_widened_by_a_tenth_of_its_distance_from_1)
{
    assert_int_equal(judged(7, 8, 6.41, 6.4, 6.5), CLAIM_HOLDS);
    assert_int_equal(judged(7, 8, 8.69, 8.6, 8.7), CLAIM_HOLDS);
    assert_int_equal(judged(7, 8, 6.39, 6.3, 6.4), CLAIM_NEAR);
    assert_int_equal(judged(7, 8, 8.71, 8.7, 8.8), CLAIM_NEAR);
    assert_int_equal(judged(1, 1.1, 0.996, 0.99, 1.0), CLAIM_HOLDS);
}

TEST(the_claimed_side_of_1_is_the_direction)
{
    assert_int_equal(judged(6, 6, 1.02, 1.01, 1.03), CLAIM_IN_DIRECTION);
    assert_int_equal(judged(6, 6, 60, 50, 70), CLAIM_IN_DIRECTION);
    assert_int_equal(judged(1, 1.1, 1.3, 1.2, 1.4), CLAIM_IN_DIRECTION);
}

TEST(half_or_twice_the_effect_is_near_the_claim)
{
    assert_int_equal(judged(6, 6, 3.5, 3.4, 3.6), CLAIM_NEAR);
    assert_int_equal(judged(6, 6, 3.4, 3.3, 3.5), CLAIM_IN_DIRECTION);
    assert_int_equal(judged(6, 6, 11, 10, 12), CLAIM_NEAR);
    assert_int_equal(judged(6, 6, 11.1, 11, 12), CLAIM_IN_DIRECTION);
    assert_int_equal(judged(1, 1.1, 1.19, 1.18, 1.2), CLAIM_NEAR);
    assert_int_equal(judged(6, 6, 3.5, 0.9, 4), CLAIM_FAILS);
}

TEST(no_difference_and_at_most_claim_no_side)
{
    assert_int_equal(judged(1, 1, 1.5, 1.4, 1.6), CLAIM_FAILS);
    assert_int_equal(judged(NAN, 2, 3, 2.9, 3.1), CLAIM_FAILS);
    assert_int_equal(judged(0.9, 1.1, 1.5, 1.4, 1.6), CLAIM_FAILS);
}

TEST(both_ends_of_a_range_have_the_figures_unit)
{
    struct claim claim = {.least = 10e3, .most = 2e6, .rule = RULE_DIFFERENCE};
    char text[64];
    claim_claimed_text(&claim, text, sizeof text);
    assert_string_equal(text, "10.0 us to 2.00 ms");
    claim.rule = RULE_RATIO;
    claim.least = 7;
    claim.most = 8;
    claim_claimed_text(&claim, text, sizeof text);
    assert_string_equal(text, "7 to 8x");
}

TEST(no_difference_and_the_other_direction_do_not_hold)
{
    assert_int_equal(judged(6, 6, 1.0, 0.99, 1.01), CLAIM_FAILS);
    assert_int_equal(judged(6, 6, 1.02, 0.98, 1.06), CLAIM_FAILS);
    assert_int_equal(judged(6, 6, 0.5, 0.4, 0.6), CLAIM_FAILS);
}

TEST(an_interval_from_no_effect_to_the_claim_settles_nothing)
{
    assert_int_equal(judged(1.05, 1.15, 1.1, 0.9, 1.3), CLAIM_INCOMPARABLE);
}

TEST(a_value_is_inside_or_not)
{
    struct claim claim = {.least = NAN, .most = 5e-7, .rule = RULE_VALUE};
    assert_int_equal(claim_judge(&claim, (struct interval){1e-9, NAN, NAN}), CLAIM_HOLDS);
    assert_int_equal(claim_judge(&claim, (struct interval){0.07, NAN, NAN}), CLAIM_FAILS);
}

TEST(a_difference_is_judged_about_0)
{
    struct claim claim = {.least = 50, .most = 50, .rule = RULE_DIFFERENCE};
    assert_int_equal(claim_judge(&claim, (struct interval){46, 45, 47}), CLAIM_HOLDS);
    assert_int_equal(claim_judge(&claim, (struct interval){4, 3, 5}), CLAIM_IN_DIRECTION);
    assert_int_equal(claim_judge(&claim, (struct interval){1, -1, 3}), CLAIM_FAILS);
}

TEST(without_a_figure_nothing_is_measured)
{
    assert_int_equal(judged(6, 6, NAN, NAN, NAN), CLAIM_UNMEASURED);
    struct claim claim = {.rule = RULE_NONE};
    assert_int_equal(claim_judge(&claim, (struct interval){2, 2, 2}), CLAIM_INCOMPARABLE);
    claim.awaits = true; /* a pair, not a judgement */
    assert_int_equal(claim_judge(&claim, (struct interval){2, 2, 2}), CLAIM_UNMEASURED);
}

/* ----------------------------------------------------------------- ledger -- */

/* A run of one launch with the two cases of PAIR, in turns over rounds. */
enum { ROUNDS = 20 };
struct fake {
    struct stored_run run;
    struct stored_case cases[2];
    struct launch_info launch;
    float time[2][ROUNDS], wall[2][ROUNDS];
    uint16_t round[ROUNDS];
    uint8_t mark[ROUNDS];
};

static void fake_run(struct fake *fake)
{
    static const char *const names[] = {"plain", "fast"};
    *fake = (struct fake){.run = {.case_count = 2, .launch_count = 1}};
    fake->run.cases = fake->cases;
    fake->run.launches = &fake->launch;
    strcpy(fake->launch.id, "1");
    for (int i = 0; i < 2; i++) {
        struct case_result *result = &fake->cases[i].result;
        result_init(result);
        strcpy(fake->cases[i].launch_id, "1");
        strcpy(fake->cases[i].group_label, "a");
        strcpy(result->id.operation, "scale");
        strcpy(result->id.variant, names[i]);
        strcpy(result->id.shape, "n=100 input=fp32");
        result->status = STATUS_OK;
        result->clock = CLOCK_CUPTI;
        for (int r = 0; r < ROUNDS; r++) {
            fake->round[r] = (uint16_t)r;
            fake->time[i][r] = (i ? 100.0F : 300.0F) + (float)r;
            fake->wall[i][r] = (i ? 1000.0F : 2000.0F) + (float)r;
        }
        result->time_ns = i ? 110 : 310;
        result->lo_ns = result->time_ns - 1;
        result->hi_ns = result->time_ns + 1;
        result->wall_ns = i ? 1010 : 2010;
        result->samples = (struct samples){.count = ROUNDS,
                                           .time_ns = fake->time[i],
                                           .round = fake->round,
                                           .mark = fake->mark,
                                           .wall_count = ROUNDS,
                                           .wall_ns = fake->wall[i],
                                           .wall_round = fake->round};
    }
}

static struct fake fake;
static struct claims claims;
static struct claim_ledger ledger;
static struct view view;

static void begin(const char *text)
{
    claims = read_text(text);
    fake_run(&fake);
}

static struct claim_finding find_one(void)
{
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_int_equal(claim_ledger_make(&ledger, &claims, &view, 1), 0);
    return ledger.item[0];
}

static int release(void **state)
{
    view_release(&view);
    claim_ledger_release(&ledger);
    claims_release(&claims);
    return 0;
}
#define LEDGER_TEST(name) TEST_WITH(name, NULL, release)

LEDGER_TEST(a_ratio_is_paired_by_round)
{
    begin(HEAD "claimed = 2.8\n" PAIR);
    struct claim_finding finding = find_one();
    assert_true(fabs(finding.measured.mid - 2.83) < 0.02);
    assert_true(finding.measured.lo < finding.measured.mid);
    assert_int_equal(finding.verdict, CLAIM_HOLDS);
    assert_false(finding.apart);
}

LEDGER_TEST(cases_of_two_clocks_are_compared_by_the_hosts)
{
    begin(HEAD "claimed = 2\n" PAIR);
    fake.cases[0].result.clock = CLOCK_HOST;
    struct claim_finding finding = find_one();
    assert_true(finding.by_wall);
    assert_true(fabs(finding.measured.mid - 1.99) < 0.02);
    assert_non_null(strstr(finding.why, "plain waits for the device inside its launch"));
}

LEDGER_TEST(a_wrong_answer_settles_nothing)
{
    begin(HEAD "claimed = 2\n" PAIR);
    fake.cases[1].result.status = STATUS_WRONG;
    strcpy(fake.cases[1].result.reason, "12 of 100 elements");
    struct claim_finding finding = find_one();
    assert_int_equal(finding.verdict, CLAIM_INCOMPARABLE);
    assert_true(isnan(finding.measured.mid));
    assert_non_null(strstr(finding.why, "fast wrong: 12 of 100 elements"));
}

LEDGER_TEST(a_case_that_was_skipped_is_not_measured)
{
    begin(HEAD "claimed = 2\n" PAIR);
    fake.cases[1].result.status = STATUS_SKIPPED;
    struct claim_finding finding = find_one();
    assert_int_equal(finding.verdict, CLAIM_UNMEASURED);
}

LEDGER_TEST(launches_of_a_kernel_can_be_what_is_claimed)
{
    begin(HEAD "claimed = 5\nquantity = launches\n" PAIR);
    fake.cases[0].result.kernels = 5;
    fake.cases[1].result.kernels = 1;
    struct claim_finding finding = find_one();
    assert_true(finding.measured.mid == 5);
    assert_int_equal(finding.verdict, CLAIM_HOLDS);
}

int main(void)
{
    return test_main(enter_suite_folder, leave_suite_folder);
}
