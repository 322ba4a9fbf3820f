/* test_store.c - what is stored comes back, is told apart, and is what the views show. */
#include "tests/store_fixture.h"

/* ----------------------------------------------------------- round trip -- */

static void assert_same_real(double a, double b)
{
    assert_memory_equal(&(double){isnan(a) ? 0 : a}, &(double){isnan(b) ? 0 : b}, sizeof a);
    assert_int_equal(isnan(a), isnan(b));
}

/* By the tables of fields, each of which is checked against the struct below. */
static void assert_same_fields(const struct field *fields, const void *a, const void *b)
{
    for (const struct field *field = fields; field->name; field++) {
        const char *at = (const char *)a + field->offset, *bt = (const char *)b + field->offset;
        if (field->type == FIELD_TEXT)
            assert_string_equal(at, bt);
        else if (field->type == FIELD_REAL)
            assert_same_real(*(const double *)at, *(const double *)bt);
        else
            assert_memory_equal(at, bt, field->size);
    }
}

static void assert_same_bits(const void *a, const void *b, size_t size)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_memory_equal(a, b, size);
}

static void assert_same_samples(const struct samples *a, const struct samples *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->wall_count, b->wall_count);
    size_t count = (size_t)a->count, walls = (size_t)a->wall_count;
    assert_same_bits(a->time_ns, b->time_ns, 4 * count);
    assert_same_bits(a->busy_ns, b->busy_ns, 4 * count);
    assert_same_bits(a->event_ns, b->event_ns, 4 * count);
    assert_same_bits(a->round, b->round, 2 * count);
    assert_same_bits(a->mark, b->mark, count);
    assert_same_bits(a->wall_ns, b->wall_ns, 4 * walls);
    assert_same_bits(a->wall_round, b->wall_round, 2 * walls);
}

OPEN_STORE_TEST(every_field_of_a_run_comes_back)
{
    struct run_info run = fixture_run(store, "a label");
    struct launch_info launch = fixture_launch(run.id, 1);
    struct stored_run stored;
    FINE(store_read_run(store, run.id, true, &stored));

    assert_string_equal(stored.run.id, run.id);
    assert_string_equal(stored.suite_text, run.suite_text);
    assert_ptr_equal(stored.run.suite_text, stored.suite_text);
    assert_string_equal(stored.status, "complete");
    assert_int_equal(strlen(stored.started_at), strlen("2026-11-21T04:49:37.123Z"));
    assert_true(strcmp(stored.ended_at, stored.started_at) >= 0);
    assert_int_equal(stored.expected_count, 2);
    assert_same_fields(run_fields, &stored.run, &run);
    assert_same_fields(shard_fields, &stored.run.shard, &run.shard);
    assert_same_fields(program_fields, &stored.program, &fixture_program);
    assert_same_fields(host_fields, &stored.host, &fixture_host);
    assert_int_equal(stored.run.object_count, 1);
    assert_same_fields(object_fields, &stored.run.objects[0], &run.objects[0]);

    assert_int_equal(stored.launch_count, 1);
    assert_string_equal(stored.launches[0].run_id, run.id);
    assert_same_fields(launch_fields, &stored.launches[0], &launch);
    assert_same_fields(device_fields, &stored.launches[0].device, &launch.device);
    assert_same_fields(session_fields, &stored.launches[0].device, &launch.device);
    assert_same_fields(start_fields, &stored.launches[0].start, &launch.start);
    assert_same_fields(around_fields, &stored.launches[0].around, &launch.around);
    assert_int_equal(fixture_integer(store, "SELECT link_width = 8 AND link_width_max = 16"
                                            " AND link_generation = 4 AND link_generation_max = 5"
                                            " AND ecc_uncorrected = 2 FROM launch"),
                     1);
    stored_run_release(&stored);
}

OPEN_STORE_TEST(every_field_of_a_case_comes_back)
{
    struct run_info run = fixture_run(store, "");
    struct case_result result = fixture_result("fast");
    struct stored_run stored;
    fixture_samples(&result.samples);
    FINE(store_read_run(store, run.id, true, &stored));

    assert_int_equal(stored.case_count, 2);
    assert_string_equal(stored.cases[0].launch_id, stored.launches[0].id);
    assert_int_equal(stored.cases[0].launch_number, 1);
    assert_int_equal(stored.cases[0].purpose, PURPOSE_CASE);
    assert_string_equal(stored.cases[0].group_label, "sizes, \"odd\"");
    assert_same_fields(case_fields, &stored.cases[0].result.id, &result.id);
    assert_same_fields(result_fields, &stored.cases[0].result, &result);
    assert_int_equal(stored.cases[0].result.metric_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(stored.cases[0].result.metrics[i].name, result.metrics[i].name);
        assert_same_real(stored.cases[0].result.metrics[i].value, result.metrics[i].value);
    }
    assert_same_samples(&stored.cases[0].result.samples, &result.samples);
    const struct stage_span *span = stored.cases[0].result.samples.span;
    assert_int_equal(stored.cases[0].result.samples.span_count, 1);
    assert_string_equal(span->name, result.samples.span->name);
    assert_int_equal(span->lane, result.samples.span->lane);
    assert_same_real(span->begin_ns, result.samples.span->begin_ns);
    assert_same_real(span->end_ns, result.samples.span->end_ns);
    assert_string_equal(stored.cases[1].result.id.variant, "slow");
    samples_release(&result.samples);
    stored_run_release(&stored);
}

OPEN_STORE_TEST(what_was_not_measured_comes_back_as_such)
{
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    struct case_result result;
    struct stored_run stored;
    result_init(&result);
    snprintf(result.id.operation, sizeof result.id.operation, "copy");
    snprintf(result.reason, sizeof result.reason, "signal 11");
    struct group group = fixture_group(PURPOSE_CEILING, "");
    FINE(store_cases(store, launch.id, &group, &result, 1, NULL));
    FINE(store_read_run(store, run.id, true, &stored));

    assert_same_fields(result_fields, &stored.cases[0].result, &result);
    assert_int_equal(stored.cases[0].purpose, PURPOSE_CEILING);
    assert_int_equal(stored.cases[0].result.samples.count, 0);
    assert_null(stored.cases[0].result.samples.time_ns);
    assert_string_equal(stored.status, "running");
    assert_string_equal(stored.ended_at, "");
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM result WHERE time_ns IS NULL"
                                            " AND kernels IS NULL AND clock IS NULL"),
                     1);
    stored_run_release(&stored);
}

OPEN_STORE_TEST(samples_are_left_out_when_not_asked_for)
{
    struct run_info run = fixture_run(store, "");
    struct stored_run stored;
    FINE(store_read_run(store, run.id, false, &stored));
    assert_int_equal(stored.cases[0].result.samples.count, 0);
    assert_null(stored.cases[0].result.samples.time_ns);
    stored_run_release(&stored);
}

/* A member that no field names would be lost without a word. These sums hold
 * as long as the structs have no member but those of the fields. */
static size_t fields_bytes(const struct field *fields)
{
    size_t bytes = 0;
    for (; fields->name; fields++)
        bytes += fields->size;
    return bytes;
}

static size_t up_to_eight(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

STORE_TEST(no_member_of_a_struct_is_forgotten)
{
    struct case_result result;
    assert_int_equal(fields_bytes(program_fields), sizeof(struct program_info));
    assert_int_equal(up_to_eight(fields_bytes(host_fields)), sizeof(struct host_info));
    const size_t state_bytes = sizeof(struct device_state) - RESULT_MAX_PROPERTY /* its library */
                               - sizeof(struct card_health);
    assert_int_equal(fields_bytes(health_fields), sizeof(struct card_health));
    assert_int_equal(up_to_eight(fields_bytes(start_fields)), state_bytes);
    assert_int_equal(up_to_eight(fields_bytes(end_fields)), state_bytes);
    assert_int_equal(up_to_eight(fields_bytes(around_fields)), sizeof(struct surroundings));
    assert_int_equal(fields_bytes(case_fields), sizeof(struct case_id));
    assert_int_equal(up_to_eight(fields_bytes(shard_fields)), up_to_eight(sizeof(struct shard)));
    size_t apart = sizeof result.id + sizeof result.metric_count + sizeof result.metrics +
                   sizeof result.samples;
    assert_in_range(sizeof result - fields_bytes(result_fields) - apart, 0, 31); /* padding */
    const struct device_info *device = NULL;
    size_t unstored = sizeof device->card + sizeof device->peers;
    assert_in_range(sizeof *device - unstored - fields_bytes(device_fields) -
                        fields_bytes(session_fields),
                    0, 15);
}

/* --------------------------------------------------------------- resume -- */

OPEN_STORE_TEST(an_open_launch_is_one_with_cases_missing)
{
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1), open;
    const struct device_state end = {0};
    struct case_result fast = fixture_result("fast"), slow = fixture_result("slow");
    bool has;

    fixture_case(store, launch.id, "fast");
    FINE(store_open_launch(store, run.id, &open));
    assert_string_equal(open.id, launch.id);
    assert_int_equal(open.seed == launch.seed, 1);
    FINE(store_has_case(store, launch.id, &fast.id, &has));
    assert_true(has);
    FINE(store_has_case(store, launch.id, &slow.id, &has));
    assert_false(has);

    FINE(store_end_launch(store, launch.id, &end, &launch.around)); /* as an interrupt does */
    FINE(store_open_launch(store, run.id, &open));
    assert_string_equal(open.id, launch.id);

    fixture_case(store, launch.id, "slow");
    FINE(store_open_launch(store, run.id, &open));
    assert_string_equal(open.id, "");
}

OPEN_STORE_TEST(a_skipped_case_leaves_no_launch_open)
{
    struct run_info run = fixture_begin_run(store, "");
    struct group group;
    struct plan plan = fixture_plan(&group);
    struct launch_info launch = fixture_launch(run.id, 1), open;
    const struct device_state end = {0};
    snprintf(group.skip[1], sizeof group.skip[1], "too small");
    FINE(store_begin_launch(store, &launch, &plan));
    fixture_case(store, launch.id, "fast");
    FINE(store_end_launch(store, launch.id, &end, &launch.around));
    FINE(store_open_launch(store, run.id, &open));
    assert_string_equal(open.id, "");
}

OPEN_STORE_TEST(one_case_is_stored_once_a_launch)
{
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    struct case_result result = fixture_result("fast");
    fixture_case(store, launch.id, "fast");
    struct group group = fixture_group(PURPOSE_CASE, "other");
    FAILS(store_cases(store, launch.id, &group, &result, 1, NULL), "UNIQUE");
    group.purpose = PURPOSE_CEILING;
    FINE(store_cases(store, launch.id, &group, &result, 1, NULL));
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM result"), 2);
}

OPEN_STORE_TEST(a_launch_ends_with_the_libraries_it_called)
{
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    struct device_state end = {.library = "cuBLAS 99.1.0"};
    struct stored_run stored;
    FINE(store_end_launch(store, launch.id, &end, &launch.around));
    end.library[0] = '\0'; /* a worker that called none: what was known stands */
    FINE(store_end_launch(store, launch.id, &end, &launch.around));
    FINE(store_read_run(store, run.id, false, &stored));
    assert_string_equal(stored.launches[0].device.library, "cuBLAS 99.1.0");
    stored_run_release(&stored);
}

OPEN_STORE_TEST(ending_what_never_began_is_an_error)
{
    const struct device_state end = {0};
    const struct surroundings around = {0};
    FAILS(store_end_run(store, "none", "complete"), "there is no run none");
    FAILS(store_end_launch(store, "none", &end, &around), "there is no launch none");
}

/* -------------------------------------------------------- comparability -- */

static void key_of(struct store *store, struct launch_info *launch, char key[STORE_ID])
{
    struct plan none = {0};
    struct query query;
    FINE(store_begin_launch(store, launch, &none));
    query_open(&query, store, "read", "SELECT comparability AS key FROM launch WHERE id = :id");
    query_text(&query, ":id", launch->id);
    assert_int_equal(query_step(&query), 1);
    column_text(&query, "key", key, STORE_ID);
    FINE(query_close(&query));
}

OPEN_STORE_TEST(what_changes_times_changes_the_comparability_key)
{
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_launch(run.id, 1);
    char first[STORE_ID], key[STORE_ID];
    key_of(store, &launch, first);

    launch = fixture_launch(run.id, 2);
    launch.seed++;
    launch.start.temperature_c = 80;
    key_of(store, &launch, key);
    assert_string_equal(key, first);

    char *const changes[] = {launch.device.name, launch.device.uuid, launch.device.driver,
                             launch.device.runtime};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        launch.number++;
        changes[i][0]++;
        key_of(store, &launch, key);
        assert_string_not_equal(key, first);
        changes[i][0]--;
    }
    launch.number++;
    launch.device.clock = CLOCK_EVENT;
    key_of(store, &launch, key);
    assert_string_not_equal(key, first);

    launch = fixture_launch(run.id, launch.number + 1);
    launch.device.flush = FLUSH_LINES;
    key_of(store, &launch, key);
    assert_string_not_equal(key, first);
}

/* ---------------------------------------------------------------- views -- */

static double real(struct store *store, const char *sql)
{
    struct query query;
    double value = NAN;
    query_open(&query, store, "read", sql);
    if (query_step(&query) == 1 && sqlite3_column_type(query.statement, 0) != SQLITE_NULL)
        value = sqlite3_column_double(query.statement, 0);
    FINE(query_close(&query));
    return value;
}

/* The views are for other programs: this one runs nothing that the file's schema holds. */
static struct store *open_with_views(void **state)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    assert_int_equal(sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL), SQLITE_OK);
    return store;
}

STORE_TEST(views_derive_rates)
{
    struct store *store = open_with_views(state);
    struct case_result fast = fixture_result("fast"), slow = fixture_result("slow");
    double bytes = fast.work.read_bytes + fast.work.write_bytes, ops = 0;
    for (int i = 0; i < ARITHMETICS; i++)
        ops += fast.work.ops[i];
    fixture_run(store, "");
    assert_same_real(real(store, "SELECT gb_per_s FROM cases WHERE variant = 'fast'"),
                     bytes / fast.time_ns);
    assert_same_real(real(store, "SELECT ops FROM cases WHERE variant = 'fast'"), ops);
    assert_int_equal(fixture_integer(store, "SELECT samples FROM cases LIMIT 1"), FIXTURE_SAMPLES);
    double best = fmax(1e9 / fast.time_ns * bytes,
                       1e9 / slow.time_ns * (slow.work.read_bytes + slow.work.write_bytes));
    assert_same_real(real(store, "SELECT rate FROM ceilings WHERE name = 'memory_copy'"), best);
    store_close(store);
}

STORE_TEST(views_show_no_time_of_a_case_that_is_not_ok)
{
    struct store *store = open_with_views(state);
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    struct case_result wrong = fixture_result("fast");
    wrong.status = STATUS_WRONG;
    struct group group = fixture_group(PURPOSE_CASE, "");
    FINE(store_cases(store, launch.id, &group, &wrong, 1, NULL));
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM cases WHERE time_ns IS NULL"
                                            " AND lo_ns IS NULL AND gb_per_s IS NULL"
                                            " AND energy_mj IS NULL"),
                     1);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM ceilings"), 0);
    store_close(store);
}
