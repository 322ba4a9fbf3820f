/* test_profile.c - from records and counters to what bounds a kernel, and the store. */
#include "tests/store_fixture.h"

#include "counter_sets.h"
#include "profile_rules.h"
#include "show_profile.h"

static void plain_name(const char *mangled, char *out, size_t size)
{
    snprintf(out, size, "<%s>", mangled);
}

static struct cupti_record kernel(const char *name, uint64_t start, uint64_t end,
                                  uint32_t correlation)
{
    return (struct cupti_record){.kind = CUPTI_KERNEL,
                                 .name = name,
                                 .start_ns = start,
                                 .end_ns = end,
                                 .correlation = correlation,
                                 .registers = 32,
                                 .shared_bytes = 1536,
                                 .dynamic_shared_bytes = 512,
                                 .local_bytes = 0,
                                 .grid = {10, 2, 1},
                                 .block = {128, 1, 1}};
}

/* a, a copy, b that overlaps it, and a again: 0-100, 150-250, 200-400, 500-530 */
enum { RECORDS = 4 };
static void make_records(struct cupti_record records[RECORDS])
{
    records[0] = kernel("a", 1000, 1100, 5);
    records[1] = (struct cupti_record){.kind = CUPTI_COPY,
                                       .name = "",
                                       .start_ns = 1150,
                                       .end_ns = 1250,
                                       .correlation = 6,
                                       .registers = -1,
                                       .shared_bytes = -1,
                                       .dynamic_shared_bytes = -1,
                                       .grid = {-1, -1, -1},
                                       .block = {-1, -1, -1}};
    records[2] = kernel("b", 1200, 1400, 7);
    records[3] = kernel("a", 1500, 1530, 8);
}

static int places[RECORDS];

static void take(struct profile *profile)
{
    struct cupti_record records[RECORDS];
    make_records(records);
    profile_init(profile);
    profile_take_records(profile, records, RECORDS, plain_name, places);
}

static void name_counters(struct profile *profile, const char *first, const char *second)
{
    profile->counter_count = 2;
    strcpy(profile->counter[0], first);
    strcpy(profile->counter[1], second);
}

static struct profile profile; /* too large for a stack that is also others' */

/* ---------------------------------------------------------------- records -- */

static void kernels_that_are_alike_are_one_row(void **state)
{
    (void)state;
    take(&profile);
    assert_int_equal(profile.activities, 4);
    assert_int_equal(profile.kernel_count, 3);
    assert_string_equal(profile.kernels[0].name, "<a>");
    assert_int_equal(profile.kernels[0].count, 2);
    assert_true(profile.kernels[0].busy_ns == 130);
    assert_true(profile.kernels[0].min_ns == 30);
    assert_true(profile.kernels[0].max_ns == 100);
    assert_int_equal(profile.kernels[0].static_shared_bytes, 1024);
    assert_int_equal(profile.kernels[0].dynamic_shared_bytes, 512);
    assert_int_equal(profile.kernels[1].activity, CUPTI_COPY);
    assert_int_equal(profile.kernels[1].static_shared_bytes, -1);
    const int expected[RECORDS] = {0, 1, 2, 0};
    assert_memory_equal(places, expected, sizeof expected);
}

static void another_grid_is_another_row(void **state)
{
    (void)state;
    struct cupti_record records[2] = {kernel("a", 10, 20, 1), kernel("a", 30, 40, 2)};
    records[1].grid[2] = 7;
    profile_init(&profile);
    profile_take_records(&profile, records, 2, plain_name, places);
    assert_int_equal(profile.kernel_count, 2);
}

static void gaps_are_what_no_activity_covers(void **state)
{
    (void)state;
    take(&profile);
    assert_true(profile.span_ns == 530);
    assert_true(profile.busy_ns == 430);
    assert_true(profile.idle_ns == 50 + 100);
}

static void activities_beyond_the_table_are_counted(void **state)
{
    (void)state;
    enum { MANY = PROFILE_MAX_KERNELS + 5 };
    static struct cupti_record records[MANY];
    static char names[MANY][8];
    static int many[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        records[i] = kernel(names[i], 100 * (uint64_t)i + 1, 100 * (uint64_t)i + 51, 1);
    }
    profile_init(&profile);
    profile_take_records(&profile, records, MANY, plain_name, many);
    assert_int_equal(profile.kernel_count, PROFILE_MAX_KERNELS);
    assert_int_equal(profile.left_out, 5);
    assert_int_equal(profile.activities, MANY);
    assert_true(profile.busy_ns == 50 * MANY);
    assert_int_equal(many[MANY - 1], -1);
}

static void kernels_of_one_call_are_a_graph(void **state)
{
    (void)state;
    struct cupti_record records[RECORDS];
    make_records(records);
    assert_false(profile_is_graph(records, RECORDS));
    records[3].correlation = records[2].correlation;
    assert_true(profile_is_graph(records, RECORDS));
}

/* --------------------------------------------------------------- counters -- */

static void totals_add_up_and_shares_are_weighted_by_time(void **state)
{
    (void)state;
    struct cupti_record records[RECORDS];
    const double values[] = {1000, 10, 500, 50, 30, 90}; /* a, b, a: in order of launch */
    make_records(records);
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FINE(profile_take_counters(&profile, records, RECORDS, places, values, 3));
    assert_true(profile.whole[0] == 1530);
    assert_true(profile.kernels[0].counter[0] == 1030);
    assert_true(profile.kernels[2].counter[0] == 500);
    assert_true(fabs(profile.kernels[0].counter[1] - (10 * 100 + 90 * 30) / 130.0) < 1e-9);
    assert_true(fabs(profile.whole[1] - (10 * 100 + 50 * 200 + 90 * 30) / 330.0) < 1e-9);
    assert_true(isnan(profile.kernels[1].counter[0])); /* a copy has none */
}

static void counters_follow_the_order_of_launch(void **state)
{
    (void)state;
    struct cupti_record records[2] = {kernel("late", 10, 20, 9), kernel("early", 30, 40, 2)};
    const double values[] = {1, 0, 2, 0};
    profile_init(&profile);
    profile_take_records(&profile, records, 2, plain_name, places);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FINE(profile_take_counters(&profile, records, 2, places, values, 2));
    assert_true(profile.kernels[0].counter[0] == 2);
    assert_true(profile.kernels[1].counter[0] == 1);
}

static void other_ranges_than_kernels_are_refused(void **state)
{
    (void)state;
    struct cupti_record records[RECORDS];
    const double values[8] = {0};
    make_records(records);
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FAILS(profile_take_counters(&profile, records, RECORDS, places, values, 4),
          "4 kernels where 3");
    assert_true(isnan(profile.whole[0]));
    FAILS(profile_take_whole(&profile, values, 0), "0 launches");
}

static void a_launch_counted_as_a_whole_gives_no_kernel_a_counter(void **state)
{
    (void)state;
    const double values[] = {77, 81};
    char words[PROFILE_MAX_WORDS];
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FINE(profile_take_whole(&profile, values, 1));
    profile.passes = 3;
    assert_true(profile.whole[0] == 77);
    assert_true(profile_is_whole(&profile));
    profile_kernel_verdict(&profile, &profile.kernels[0], words);
    assert_string_equal(words, "");
}

/* ------------------------------------------------------------------ rules -- */

struct stated {
    const char *metric;
    double value;
};

/* The words on a kernel of `time_ns` with these counters. */
static const char *verdict(double time_ns, const struct stated *stated)
{
    static char words[PROFILE_MAX_WORDS];
    profile_init(&profile);
    for (; stated->metric; stated++) {
        strcpy(profile.counter[profile.counter_count], stated->metric);
        profile.whole[profile.counter_count++] = stated->value;
    }
    profile_verdict(&profile, profile.whole, time_ns, words);
    return words;
}
#define VERDICT(time_ns, ...) verdict(time_ns, (const struct stated[]){__VA_ARGS__, {NULL, 0}})

static void four_fifths_of_a_unit_is_its_bound(void **state)
{
    (void)state;
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 91.3}, {COUNTER_SM, 30}),
                        "memory: DRAM at 91 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 40}, {COUNTER_TENSOR, 85}),
                        "compute: the tensor pipe at 85 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_FMA, 80}),
                        "compute: the FMA pipe at 80 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_L2, 88}, {COUNTER_DRAM, 72}),
                        "cache: L2 at 88 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_ISSUE, 94}, {COUNTER_SM, 94}),
                        "instructions: issue at 94 % of its peak");
}

static void a_kernel_twice_as_long_as_its_start_and_end_is_not_mostly_those(void **state)
{
    (void)state;
    assert_string_equal(VERDICT(2190, {COUNTER_DRAM, 91}),
                        "launch: 2.19 us a kernel is mostly its start and end");
    assert_string_equal(VERDICT(2200, {COUNTER_DRAM, 91}), "memory: DRAM at 91 % of its peak");
}

static void a_busy_pipe_of_few_multiprocessors_does_not_bind_the_gpu(void **state)
{
    (void)state;
    assert_string_equal(VERDICT(1e5, {COUNTER_TENSOR, 92}, {COUNTER_AT_WORK, 24.2}),
                        "parallelism: busy multiprocessors, of whose time only 24 % has work:"
                        " too few blocks, or uneven ones");
    /* 92 % of 70 % is 64 %: enough of the GPU to be its bound. */
    assert_string_equal(VERDICT(1e5, {COUNTER_TENSOR, 92}, {COUNTER_AT_WORK, 70}),
                        "compute: the tensor pipe at 92 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 90}, {COUNTER_FMA, 85}, {COUNTER_AT_WORK, 50}),
                        "memory: DRAM at 90 % of its peak");
    /* Half busy where there is work, and idle over all. */
    assert_non_null(strstr(
        VERDICT(1e5, {COUNTER_TENSOR, 70}, {COUNTER_AT_WORK, 50}, {COUNTER_STALL("gmma"), 3}),
        "latency: no unit above 35 %; warps wait for wgmma"));
}

static void idle_units_and_waiting_warps_are_latency(void **state)
{
    (void)state;
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 22}, {COUNTER_SM, 31}, {COUNTER_L2, 12},
                                {COUNTER_OCCUPANCY, 24}, {COUNTER_STALL("long_scoreboard"), 18.2},
                                {COUNTER_STALL("wait"), 2.5}),
                        "latency: no unit above 31 %; warps wait for memory, 18.2 cycles an"
                        " instruction, occupancy 24 %");
    assert_non_null(
        strstr(VERDICT(1e5, {COUNTER_DRAM, 61}, {COUNTER_STALL("barrier"), 3}),
               "mixed: no single bound (DRAM 61 %, L2 -, SM -); warps wait for barrier"));
}

static void without_counters_nothing_is_said_to_bind(void **state)
{
    (void)state;
    assert_string_equal(VERDICT(1e5, {"x__y.sum", 1}), "unknown: its counters were not read");
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, NAN}), "unknown: its counters were not read");
}

static void a_warp_that_could_go_is_not_waiting(void **state)
{
    (void)state;
    double cycles;
    VERDICT(1e5, {COUNTER_STALL("not_selected"), 9}, {COUNTER_STALL("wait"), 2},
            {COUNTER_STALL("barrier"), 4});
    assert_string_equal(profile_top_stall(&profile, profile.whole, 0, &cycles), "barrier");
    assert_true(cycles == 4);
    assert_string_equal(profile_top_stall(&profile, profile.whole, 1, &cycles), "fixed latency");
    assert_null(profile_top_stall(&profile, profile.whole, 2, &cycles));
}

static void traffic_is_held_against_the_least_work(void **state)
{
    (void)state;
    const struct assay_work work = {.read_bytes = 200, .write_bytes = 50}, none = {0};
    VERDICT(1e5, {COUNTER_DRAM_READ, 220}, {COUNTER_DRAM_WRITE, 55});
    assert_true(fabs(profile_traffic_ratio(&profile, &work) - 1.1) < 1e-12);
    assert_true(isnan(profile_traffic_ratio(&profile, &none)));
    VERDICT(1e5, {COUNTER_DRAM_READ, 220});
    assert_true(isnan(profile_traffic_ratio(&profile, &work)));
}

/* ------------------------------------------------------------------- sets -- */

static char list[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC];

static void a_list_names_each_counter_once(void **state)
{
    (void)state;
    int memory = counter_list("memory", list);
    assert_true(memory > 5);
    assert_int_equal(counter_list("memory,memory," COUNTER_DRAM, list), memory);
    assert_int_equal(counter_list("none", list), 0);
    assert_int_equal(counter_list("dram__bytes.sum,none", list), 1);
    assert_string_equal(list[0], "dram__bytes.sum");
    assert_int_equal(counter_list(NULL, list), counter_list("default", list));
    assert_true(counter_list("all", list) <= PROFILE_MAX_COUNTERS);
}

static void a_wrong_list_is_refused_with_a_reason(void **state)
{
    (void)state;
    FAILS(counter_list("memry", list), "did you mean 'memory'");
    FAILS(counter_list("dram__bytes", list), "lacks its rollup");
    FAILS(counter_list("", list), "which counters");
    FAILS(counter_list("memory,", list), "commas between");
    FAILS(counter_list(",memory", list), "commas between");
}

static void counters_are_written_with_their_units(void **state)
{
    (void)state;
    char text[48];
    counter_text(text, sizeof text, COUNTER_BYTES, 2.5e8);
    assert_string_equal(text, "250 MB");
    counter_text(text, sizeof text, COUNTER_BYTES, 999.7);
    assert_string_equal(text, "1 kB");
    counter_text(text, sizeof text, COUNTER_PCT, 9.96);
    assert_string_equal(text, "10 %");
    counter_text(text, sizeof text, COUNTER_HZ, 1.98e9);
    assert_string_equal(text, "1980 MHz");
    counter_text(text, sizeof text, COUNTER_PCT, NAN);
    assert_string_equal(text, "-");
}

/* ------------------------------------------------------------------ store -- */

/* With counters of every kind of absence. */
static void make_profile(void)
{
    struct cupti_record records[RECORDS];
    const double values[] = {1000, 10, 500, NAN, 30, 90};
    make_records(records);
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, "no__such.pct");
    FINE(profile_take_counters(&profile, records, RECORDS, places, values, 3));
    profile.passes = 27;
    strcpy(profile.counters_lost, "not known to this GPU: no__such.pct");
}

static void store_it(struct store *store, struct run_info *run, struct launch_info *launch)
{
    *run = fixture_begin_run(store, "profiled");
    *launch = fixture_begin_launch(store, run->id, 1);
    fixture_case(store, launch->id, "fast");
    struct case_result result = fixture_result("fast");
    make_profile();
    FINE(store_profile(store, launch->id, &result.id, &profile));
}

static void same_number(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void check_read(struct store *store, const struct launch_info *launch)
{
    struct profile *read = malloc(sizeof *read);
    struct case_result result = fixture_result("fast");
    bool found = false;
    FINE(store_read_profile(store, launch->id, &result.id, read, &found));
    assert_true(found);
    make_profile();
    assert_int_equal(read->activities, profile.activities);
    assert_int_equal(read->passes, 27);
    assert_string_equal(read->counters_lost, profile.counters_lost);
    assert_int_equal(read->kernel_count, profile.kernel_count);
    assert_int_equal(read->counter_count, profile.counter_count);
    for (int k = 0; k < profile.kernel_count; k++) {
        assert_string_equal(read->kernels[k].name, profile.kernels[k].name);
        assert_memory_equal(read->kernels[k].grid, profile.kernels[k].grid, sizeof(int32_t[3]));
        assert_int_equal(read->kernels[k].registers, profile.kernels[k].registers);
        same_number(read->kernels[k].busy_ns, profile.kernels[k].busy_ns);
        for (int i = 0; i < 2; i++)
            same_number(read->kernels[k].counter[i], profile.kernels[k].counter[i]);
    }
    for (int i = 0; i < 2; i++)
        same_number(read->whole[i], profile.whole[i]);
    free(read);
}

static void a_stored_profile_reads_back_as_it_was(void **state)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run;
    struct launch_info launch;
    store_it(store, &run, &launch);
    check_read(store, &launch);
    store_close(store);
}

static void a_profile_travels_with_its_run(void **state)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct run_info run;
    struct launch_info launch;
    int rows = 0;
    store_it(a, &run, &launch);
    FILE *file = tmpfile();
    FINE(store_export_ndjson(a, run.id, file));
    rewind(file);
    FINE(store_import_ndjson(b, "in", file, &rows));
    check_read(b, &launch);
    rewind(file);
    FINE(store_import_ndjson(b, "in", file, &rows));
    assert_int_equal(rows, 0);
    fclose(file);
    store_close(a);

    struct store *c = fixture_open(state, "c.sqlite", STORE_WRITE);
    FINE(store_merge(c, fixture_path(state, "a.sqlite"), &rows));
    check_read(c, &launch);
    FINE(store_merge(c, fixture_path(state, "b.sqlite"), &rows));
    assert_int_equal(rows, 0);
    store_close(c);
    store_close(b);
}

static void a_case_that_is_not_stored_has_no_profile(void **state)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run;
    struct launch_info launch;
    struct case_result slow = fixture_result("slow");
    store_it(store, &run, &launch);
    FAILS(store_profile(store, launch.id, &slow.id, &profile), "no case");
    store_close(store);
}

static char *shown(struct store *store, const char *run_id, const char *format)
{
    struct stored_run run;
    struct profile **profiles;
    char *text = NULL;
    size_t size;
    FINE(store_read_run(store, run_id, true, &run));
    FINE(store_read_profiles(store, &run, &profiles));
    assert_int_equal(show_profile_count(&run, profiles), 1);
    FILE *out = open_memstream(&text, &size);
    FINE(show_profiles(out, &run, profiles, format));
    fclose(out);
    store_profiles_release(&run, profiles);
    stored_run_release(&run);
    return text;
}

static void every_format_names_the_kernels_and_their_counters(void **state)
{
    static const char *const formats[] = {"table", "md", "json"};
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run;
    struct launch_info launch;
    store_it(store, &run, &launch);
    for (int i = 0; i < 3; i++) {
        char *text = shown(store, run.id, formats[i]);
        assert_non_null(strstr(text, "<a>"));
        assert_non_null(strstr(text, "launch"));
        assert_non_null(strstr(text, "copy"));
        assert_null(strstr(text, "nan"));
        free(text);
    }
    assert_false(show_profile_knows_format("csv"));
    store_close(store);
}

#define STORED(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_are_alike_are_one_row),
        cmocka_unit_test(another_grid_is_another_row),
        cmocka_unit_test(gaps_are_what_no_activity_covers),
        cmocka_unit_test(activities_beyond_the_table_are_counted),
        cmocka_unit_test(kernels_of_one_call_are_a_graph),
        cmocka_unit_test(totals_add_up_and_shares_are_weighted_by_time),
        cmocka_unit_test(counters_follow_the_order_of_launch),
        cmocka_unit_test(other_ranges_than_kernels_are_refused),
        cmocka_unit_test(a_launch_counted_as_a_whole_gives_no_kernel_a_counter),
        cmocka_unit_test(four_fifths_of_a_unit_is_its_bound),
        cmocka_unit_test(a_kernel_twice_as_long_as_its_start_and_end_is_not_mostly_those),
        cmocka_unit_test(a_busy_pipe_of_few_multiprocessors_does_not_bind_the_gpu),
        cmocka_unit_test(idle_units_and_waiting_warps_are_latency),
        cmocka_unit_test(without_counters_nothing_is_said_to_bind),
        cmocka_unit_test(a_warp_that_could_go_is_not_waiting),
        cmocka_unit_test(traffic_is_held_against_the_least_work),
        cmocka_unit_test(a_list_names_each_counter_once),
        cmocka_unit_test(a_wrong_list_is_refused_with_a_reason),
        cmocka_unit_test(counters_are_written_with_their_units),
        STORED(a_stored_profile_reads_back_as_it_was),
        STORED(a_profile_travels_with_its_run),
        STORED(a_case_that_is_not_stored_has_no_profile),
        STORED(every_format_names_the_kernels_and_their_counters),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
