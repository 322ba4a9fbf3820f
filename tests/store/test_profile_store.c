/* test_profile_store.c - a profile in the store, on its way to another, and shown. */
#include "tests/profile_fixture.h"

#include "device/counter_sets.h"
#include "show/show.h"

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

OPEN_STORE_TEST(a_stored_profile_reads_back_as_it_was)
{
    struct run_info run;
    struct launch_info launch;
    store_it(store, &run, &launch);
    check_read(store, &launch);
}

STORE_TEST(a_profile_travels_with_its_run)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct run_info run;
    struct launch_info launch;
    struct merge_outcome merged;
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
    FINE(store_merge(c, fixture_path(state, "a.sqlite"), &merged));
    check_read(c, &launch);
    FINE(store_merge(c, fixture_path(state, "b.sqlite"), &merged));
    assert_int_equal(merged.added, 0);
    assert_int_equal(merged.conflicts, 0);
    store_close(c);
    store_close(b);
}

OPEN_STORE_TEST(a_case_that_is_not_stored_has_no_profile)
{
    struct run_info run;
    struct launch_info launch;
    struct case_result slow = fixture_result("slow");
    store_it(store, &run, &launch);
    FAILS(store_profile(store, launch.id, &slow.id, &profile), "no case");
}

static char *shown(struct store *store, const char *run_id, const char *format)
{
    struct stored_run run;
    char *text = NULL;
    size_t size;
    FINE(store_read_run(store, run_id, true, &run));
    FINE(store_read_profiles(store, &run));
    assert_int_equal(show_profile_count(&run, run.profiles), 1);
    FILE *out = open_memstream(&text, &size);
    FINE(show_profiles(out, &run, run.profiles, format, 80));
    fclose(out);
    stored_run_release(&run);
    return text;
}

STORE_TEST(every_format_names_the_kernels_and_their_counters)
{
    static const struct {
        const char *name, *kernel;
    } formats[] = {{"table", "<a>"}, {"md", "\\<a\\>"}, {"json", "<a>"}};
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run;
    struct launch_info launch;
    store_it(store, &run, &launch);
    for (int i = 0; i < 3; i++) {
        char *text = shown(store, run.id, formats[i].name);
        assert_non_null(strstr(text, formats[i].kernel));
        assert_non_null(strstr(text, "launch"));
        assert_non_null(strstr(text, "copy"));
        assert_null(strstr(text, "nan"));
        free(text);
    }
    assert_false(show_profile_knows_format("csv"));
    store_close(store);
}
