/* test_claim_launches.c - a claim over several launches: the unit is the launch, whose luck all
 * of its samples share. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "claims/claim_ledger.h"
#include "tests/fake_operations.h"
#include "tests/suite_folder.h"

enum { MOST = 6 };

/* The cases plain and fast of each launch, without samples: their medians decide. */
struct fake {
    struct stored_run run;
    struct stored_case cases[2 * MOST];
    struct launch_info launch[MOST];
};

static void case_make(struct stored_case *stored, int launch, const char *variant, double time_ns,
                      double alloc_ns)
{
    struct case_result *result = &stored->result;
    result_init(result);
    snprintf(stored->launch_id, sizeof stored->launch_id, "%d", launch);
    strcpy(stored->group_label, "a");
    strcpy(result->id.operation, "scale");
    strcpy(result->id.variant, variant);
    strcpy(result->id.shape, "n=100 input=fp32");
    result->status = STATUS_OK;
    result->clock = CLOCK_CUPTI;
    result->time_ns = time_ns;
    result->lo_ns = 0.999 * time_ns;
    result->hi_ns = 1.001 * time_ns;
    result->metric_count = 1;
    strcpy(result->metrics[0].name, "alloc_ns");
    result->metrics[0].value = alloc_ns;
}

/* `plain` takes so many times what `fast` takes, and so many times its allocation. */
static void fake_run(struct fake *fake, int launches, const double *ratio, const double *alloc)
{
    *fake = (struct fake){.run = {.case_count = 2 * launches, .launch_count = launches}};
    fake->run.cases = fake->cases;
    fake->run.launches = fake->launch;
    for (int i = 0; i < launches; i++) {
        snprintf(fake->launch[i].id, sizeof fake->launch[i].id, "%d", i);
        case_make(&fake->cases[2 * i], i, "plain", 100 * ratio[i], 10 * alloc[i]);
        case_make(&fake->cases[2 * i + 1], i, "fast", 100, 10);
    }
}

static struct claim_finding find_claimed(struct fake *fake, const char *claimed,
                                         const char *quantity)
{
    char text[512];
    struct claims claims;
    struct claim_ledger ledger;
    struct view view;
    snprintf(text, sizeof text,
             "[claim a]\ndocument = d\nsays = s\nclaimed = %s\nquantity = %s\n"
             "more = scale/plain n=100\nless = scale/fast n=100\n",
             claimed, quantity);
    write_suite("c.ini", text);
    if (claims_read(&claims, "./c.ini")) fail_msg("%s", assay_last_error());
    assert_int_equal(view_make(&view, &fake->run), 0);
    assert_int_equal(claim_ledger_make(&ledger, &claims, &view, 1), 0);
    struct claim_finding finding = ledger.item[0];
    view_release(&view);
    claim_ledger_release(&ledger);
    claims_release(&claims);
    return finding;
}

static struct claim_finding find(struct fake *fake, const char *quantity)
{
    return find_claimed(fake, "1.5", quantity);
}

/* Slower from launch to launch, by more than a time may scatter. */
static void make_noisy(struct fake *fake)
{
    for (int c = 0; c < fake->run.case_count; c++)
        fake->cases[c].result.time_ns *= 1 + 0.1 * (c / 2);
}

static const double ratios[MOST] = {1.55, 1.0, 1.44, 1.6, 1.5, 1.7};
static const double allocs[MOST] = {4.3, 3.7, 9.0, 4.1, 4.4, 4.2};

TEST(a_ratio_is_the_median_of_the_launches_ratios)
{
    struct fake fake;
    fake_run(&fake, 5, ratios, allocs);
    struct claim_finding finding = find(&fake, "time");
    assert_true(fabs(finding.measured.mid - 1.5) < 1e-9);
}

/* Five medians are too few for an interval of 95 %, and their ends are what was seen. */
TEST(its_interval_is_of_launches_and_not_of_samples)
{
    struct fake fake;
    fake_run(&fake, 5, ratios, allocs);
    struct claim_finding finding = find(&fake, "time");
    assert_true(fabs(finding.measured.lo - 1.0) < 1e-9);
    assert_true(fabs(finding.measured.hi - 1.6) < 1e-9);
    assert_int_equal(finding.verdict, CLAIM_INCOMPARABLE); /* one launch saw no effect */
    fake_run(&fake, 6, ratios, allocs);
    finding = find(&fake, "time");
    assert_true(fabs(finding.measured.lo - 1.0) < 1e-9);
    assert_true(fabs(finding.measured.hi - 1.7) < 1e-9);
}

TEST(a_variants_own_figure_has_an_interval_over_launches_too)
{
    struct fake fake;
    fake_run(&fake, 5, ratios, allocs);
    struct claim_finding finding = find(&fake, "alloc_ns");
    assert_true(fabs(finding.measured.mid - 4.3) < 1e-9);
    assert_true(fabs(finding.measured.lo - 3.7) < 1e-9);
    assert_true(fabs(finding.measured.hi - 9.0) < 1e-9);
    fake_run(&fake, 1, ratios, allocs);
    finding = find(&fake, "alloc_ns");
    assert_true(fabs(finding.measured.mid - 4.3) < 1e-9);
    assert_true(isnan(finding.measured.lo));
}

/* The claim is 1.5, which holds from 1.45 to 1.55. */
TEST(noisy_times_get_the_weakest_verdict_of_their_interval_or_none)
{
    static const double near[MOST] = {1.5, 1.44, 1.49, 1.5, 1.52};
    static const double none[MOST] = {1.02, 0.99, 1.02, 1.02, 1.03};
    static const struct {
        const double *ratio;
        enum claim_verdict quiet, noisy;
    } cases[] = {{near, CLAIM_HOLDS, CLAIM_NEAR}, {none, CLAIM_FAILS, CLAIM_INCOMPARABLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake;
        fake_run(&fake, 5, cases[i].ratio, allocs);
        assert_int_equal(find(&fake, "time").verdict, cases[i].quiet);
        make_noisy(&fake);
        struct claim_finding finding = find(&fake, "time");
        assert_int_equal(finding.verdict, cases[i].noisy);
        assert_non_null(strstr(finding.why, "noisy: "));
        /* A figure that is no time is as good as ever. */
        assert_null(strstr(find(&fake, "alloc_ns").why, "noisy"));
    }
}

/* "As fast": both ends fail, on either side of what is claimed, and what is between them does not.
 */
TEST(a_noisy_interval_about_the_claim_does_not_refute_it)
{
    static const double about[MOST] = {0.8, 0.9, 0.92, 1.1, 1.2};
    static const double beside[MOST] = {0.8, 0.81, 0.82, 0.83, 0.84};
    struct fake fake;
    fake_run(&fake, 5, about, allocs);
    make_noisy(&fake);
    struct claim_finding finding = find_claimed(&fake, "1", "time");
    assert_int_equal(finding.verdict, CLAIM_INCOMPARABLE);
    assert_non_null(strstr(finding.why, "only a part of the interval fails"));
    fake_run(&fake, 5, beside, allocs);
    make_noisy(&fake);
    assert_int_equal(find_claimed(&fake, "1", "time").verdict, CLAIM_FAILS);
}

int main(void)
{
    return test_main(enter_suite_folder, leave_suite_folder);
}
