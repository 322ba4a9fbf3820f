/* test_trace_acts.c - what a launch is handed, in trials of a setup and in what is timed. */
#include <string.h>

#include "tests/test.h"

#include "device/cuda/trace_acts.h"

static const uint64_t ALLOCATION = 0x7efd99810000;
/* What a library left unset in a structure: of the stack in one process, of a mapping in another.
 */
static const uint64_t UNSET[2] = {0x7ffe1087c500, 0x7ff1449d3400};

static bool find_allocation(uint64_t address, struct trace_range *range)
{
    if (address - ALLOCATION >= 4096) return false;
    *range = (struct trace_range){.begin = ALLOCATION, .bytes = 4096, .id = 1};
    return true;
}

static uint64_t as_it_is(uint64_t word, bool *is_read)
{
    *is_read = word == UNSET[0];
    return word;
}

enum where { PLAIN_SETUP, TRIAL, CAPTURED_FOR_TRIAL, CAPTURED_FOR_LAUNCH, LAUNCH };

static void launch(struct trace_acts *acts, uint64_t first, uint64_t number)
{
    const uint64_t words[] = {first, ALLOCATION + 16, number};
    struct trace_handed handed = trace_handed(acts, words, sizeof words);
    trace_act_handed(acts, &handed, "kernel k");
}

static struct fingerprint traced(enum where where, uint64_t first, uint64_t number)
{
    static const int graph, executable;
    const struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    struct trace_acts *acts = trace_acts_new(find_allocation, as_it_is);
    assert_non_null(acts);
    fingerprint_begin(&print, &id);
    trace_acts_step(acts, TRACE_SETUP, -1, &print);
    if (where == PLAIN_SETUP || where == TRIAL) launch(acts, first, number);
    if (where == CAPTURED_FOR_TRIAL || where == CAPTURED_FOR_LAUNCH) {
        trace_capture_begin(acts);
        launch(acts, first, number);
        trace_capture_end(acts, &graph);
        trace_graph_made(acts, &graph, &executable);
    }
    if (where == CAPTURED_FOR_TRIAL) trace_graph_launched(acts, &executable, NULL);
    if (where == TRIAL || where == CAPTURED_FOR_TRIAL) (void)trace_acts_timed(acts);
    trace_acts_step(acts, TRACE_LAUNCH, -1, &print);
    if (where == LAUNCH) launch(acts, first, number);
    if (where == CAPTURED_FOR_LAUNCH) trace_graph_launched(acts, &executable, NULL);
    trace_acts_step(acts, TRACE_END, -1, &print);
    fingerprint_end(&print);
    trace_acts_free(acts);
    return print;
}

static bool alike(const struct fingerprint *a, const struct fingerprint *b)
{
    return strcmp(a->hash, b->hash) == 0 && a->needs_program == b->needs_program;
}

/* Whether two processes differ, which hand over these words and numbers. */
static bool is_seen(enum where where, uint64_t one_word, uint64_t other_word, uint64_t one,
                    uint64_t other)
{
    const struct fingerprint first = traced(where, one_word, one);
    const struct fingerprint second = traced(where, other_word, other);
    assert_string_equal(first.unknown, "");
    return !alike(&first, &second);
}

static void what_is_unset_counts_in_a_launch_and_not_in_a_trial(void **state)
{
    (void)state;
    assert_false(is_seen(TRIAL, UNSET[0], UNSET[1], 7, 7));
    assert_false(is_seen(CAPTURED_FOR_TRIAL, UNSET[0], UNSET[1], 7, 7));
    assert_false(is_seen(TRIAL, UNSET[0], ALLOCATION, 7, 7));
    assert_true(is_seen(PLAIN_SETUP, UNSET[0], UNSET[1], 7, 7));
    assert_true(is_seen(CAPTURED_FOR_LAUNCH, UNSET[0], UNSET[1], 7, 7));
    assert_true(is_seen(LAUNCH, UNSET[0], UNSET[1], 7, 7));
}

static void a_number_counts_everywhere(void **state)
{
    (void)state;
    for (int where = PLAIN_SETUP; where <= LAUNCH; where++) {
        assert_true(is_seen((enum where)where, 1, 1, 7, 8));
        assert_true(is_seen((enum where)where, 1, (uint64_t)4096 << 32, 7, 7));
        assert_false(is_seen((enum where)where, 1, 1, 7, 7));
    }
}

/* Then the program's own code may decide what the device reads. */
static void an_address_of_the_host_ties_a_launch_to_the_program_and_a_trial_not(void **state)
{
    (void)state;
    assert_false(traced(TRIAL, UNSET[0], 7).needs_program);
    assert_false(traced(CAPTURED_FOR_TRIAL, UNSET[0], 7).needs_program);
    assert_true(traced(PLAIN_SETUP, UNSET[0], 7).needs_program);
    assert_true(traced(CAPTURED_FOR_LAUNCH, UNSET[0], 7).needs_program);
    assert_true(traced(LAUNCH, UNSET[0], 7).needs_program);
    assert_false(traced(LAUNCH, UNSET[1], 7).needs_program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unset_counts_in_a_launch_and_not_in_a_trial),
        cmocka_unit_test(a_number_counts_everywhere),
        cmocka_unit_test(an_address_of_the_host_ties_a_launch_to_the_program_and_a_trial_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
