/*
 * test_store_versions.c - databases of other versions: refused with a sentence, or brought to this
 * one with all that was in them.
 */
#include "tests/store_fixture.h"

#include "store/store_gate.h"

STORE_TEST(a_newer_database_is_refused)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    FINE(store_exec(store, "test", "PRAGMA user_version = 999"));
    store_close(store);
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_WRITE),
          "was made by a newer assay (schema 999");
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_READ),
          "was made by a newer assay");
}

STORE_TEST(a_database_of_an_older_development_version_is_refused)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    fixture_run(store, "kept");
    FINE(store_exec(store, "test", "PRAGMA user_version = 3"));
    store_close(store);
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_WRITE),
          "is of an older development version of assay (schema 3");
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_READ),
          "export its runs with that one and import them here");
}

STORE_TEST(a_migration_keeps_the_rows)
{
    const struct store_step steps[] = {
        store_steps[0],
        {store_version + 1, "ALTER TABLE run ADD COLUMN mood TEXT DEFAULT 'fine'"},
        {0}};
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    fixture_run(store, "kept");
    FINE(store_migrate(store, steps));
    assert_int_equal(fixture_integer(store, "PRAGMA user_version"), store_version + 1);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM run WHERE mood = 'fine'"), 1);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM sample"), 2);
    FINE(store_migrate(store, steps)); /* nothing left to do */
    store_close(store);
}

STORE_TEST(a_migration_that_fails_changes_nothing)
{
    const struct store_step steps[] = {
        store_steps[0],
        {store_version + 1, "ALTER TABLE run ADD COLUMN mood TEXT"},
        {store_version + 2, "ALTER TABLE run ADD COLUMN more TEXT; SELECT nonsense"},
        {0}};
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    FAILS(store_migrate(store, steps), "no such column: nonsense");
    assert_int_equal(fixture_integer(store, "PRAGMA user_version"), store_version);
    assert_int_equal(
        fixture_integer(store, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'mood'"),
        0);
    store_close(store);
}

/* Takes back what the later steps changed. */
static const char to_version_4[] =
    "DROP VIEW beside; ALTER TABLE result DROP COLUMN begun_at;"
    "ALTER TABLE run DROP COLUMN shard_count; ALTER TABLE run DROP COLUMN shard_index;"
    "ALTER TABLE run DROP COLUMN shard_group; ALTER TABLE run DROP COLUMN shard_cut;"
    "ALTER TABLE verdict DROP COLUMN threshold; ALTER TABLE verdict DROP COLUMN noise;"
    "ALTER TABLE verdict DROP COLUMN resolution; ALTER TABLE verdict DROP COLUMN fence;"
    "ALTER TABLE gate DROP COLUMN hostname; ALTER TABLE gate DROP COLUMN card;"
    "ALTER TABLE gate DROP COLUMN simulated; ALTER TABLE gate DROP COLUMN base_build;"
    "ALTER TABLE gate DROP COLUMN candidate_build;"
    "ALTER TABLE launch DROP COLUMN link_width; ALTER TABLE launch DROP COLUMN link_width_max;"
    "ALTER TABLE launch DROP COLUMN link_generation;"
    "ALTER TABLE launch DROP COLUMN link_generation_max;"
    "ALTER TABLE launch DROP COLUMN ecc_uncorrected;"
    "DROP TABLE object;"
    "DROP VIEW ceilings; DROP VIEW spread; DROP VIEW cases;"
    "ALTER TABLE result DROP COLUMN ops_fp8;"
    "ALTER TABLE launch DROP COLUMN start_other_processes;"
    "ALTER TABLE launch DROP COLUMN end_other_processes;"
    "ALTER TABLE launch DROP COLUMN processors; ALTER TABLE launch DROP COLUMN start_load;"
    "ALTER TABLE launch DROP COLUMN end_load; ALTER TABLE launch DROP COLUMN other_share;"
    "ALTER TABLE launch DROP COLUMN steal_share;"
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_schema SET sql = replace(sql, '''bound'', ', '') WHERE type = 'table';"
    "UPDATE sqlite_schema SET sql = replace(sql, 'status IN (''ok'', ''unchecked'')',"
    " 'status = ''ok''') WHERE type = 'view';"
    "UPDATE sqlite_schema SET sql = replace(sql, '''unchecked'', ', '') WHERE type = 'table';"
    "PRAGMA writable_schema = RESET; PRAGMA user_version = 4";

/* Tables by their columns, all else by its text; by malloc. */
static char *schema_of(struct store *store)
{
    struct query query;
    query_open(
        &query, store, "read the schema",
        "SELECT group_concat(line, char(10)) AS lines FROM"
        " (SELECT s.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || c.pk AS line"
        "  FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table'"
        "  UNION ALL SELECT sql FROM sqlite_schema WHERE type != 'table' ORDER BY 1)");
    assert_int_equal(query_step(&query), 1);
    char *lines = column_copy(&query, "lines");
    FINE(query_close(&query));
    return lines;
}

/* What a version without the kind `bound` left behind. */
STORE_TEST(a_database_of_version_4_gets_bounds_and_keeps_its_baselines)
{
    static const char bound[] = "UPDATE result SET kind = 'bound' WHERE variant = 'slow'";
    static const char unchecked[] = "UPDATE result SET status = 'unchecked', time_ns = 5,"
                                    " lo_ns = 4, hi_ns = 6 WHERE variant = 'slow'";
    static const char ceiling[] = "UPDATE result SET kind = 'ceiling' WHERE variant = 'slow'";
    const char *path = fixture_path(state, "a.sqlite");
    sqlite3 *old;
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(store, "kept");
    store_close(store);
    assert_int_equal(sqlite3_open(path, &old), SQLITE_OK);
    assert_int_equal(sqlite3_exec(old, to_version_4, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(old, bound, NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_exec(old, unchecked, NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_close(old), SQLITE_OK);

    store = fixture_open(state, "a.sqlite", STORE_READ);
    struct stored_run kept;
    FINE(store_read_run(store, run.id, true, &kept));
    assert_int_equal(kept.case_count, 2);
    assert_int_equal(kept.run.object_count, 0);
    assert_int_equal(kept.cases[1].result.id.kind, ASSAY_BASELINE);
    stored_run_release(&kept);
    store_close(store);

    struct store *fresh = fixture_open(state, "fresh.sqlite", STORE_WRITE);
    store = fixture_open(state, "a.sqlite", STORE_WRITE);
    assert_int_equal(fixture_integer(store, "PRAGMA user_version"), store_version);
    FINE(store_exec(store, "test", bound));
    FINE(store_exec(store, "test", unchecked));
    static const char times[] = "SELECT count(*) FROM %s WHERE result_id IN"
                                " (SELECT id FROM result WHERE status = 'unchecked')%s";
    const char *const views[][2] = {{"cases", " AND time_ns > 0"}, {"spread", " AND spread > 0"}};
    for (int i = 0; i < 2; i++) {
        char sql[256];
        snprintf(sql, sizeof sql, times, views[i][0], views[i][1]);
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
        assert_int_equal(fixture_integer(store, sql), 1);
    }
    char *upgraded = schema_of(store), *made = schema_of(fresh);
    assert_string_equal(upgraded, made);
    free(upgraded);
    free(made);
    store_close(fresh);
    FAILS(store_exec(store, "test", ceiling), "CHECK constraint failed");
    assert_int_equal(fixture_integer(store,
                                     "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
                                     " AND sql LIKE '%kind IN (%' AND sql NOT LIKE '%bound%'"),
                     0);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM pragma_integrity_check"
                                            " WHERE integrity_check = 'ok'"),
                     1);
    store_close(store);
}

/* Known to this program as a bound, and stored before there was that word. */
static const struct assay_variant moved = {
    .operation = "copy", .name = "fast", .kind = ASSAY_BOUND, .place = ASSAY_CUDA, .apart = true};
ASSAY_REGISTER_VARIANT(moved);

OPEN_STORE_TEST(a_bound_that_was_stored_as_a_baseline_reads_as_a_bound)
{
    struct run_info run = fixture_run(store, "kept");
    struct stored_run read;
    struct timings timings;
    FINE(store_exec(store, "test", "UPDATE result SET kind = 'baseline'"));
    FINE(store_read_run(store, run.id, true, &read));
    for (int i = 0; i < read.case_count; i++) {
        bool is_fast = strcmp(read.cases[i].result.id.variant, "fast") == 0;
        assert_int_equal(read.cases[i].result.id.kind, is_fast ? ASSAY_BOUND : ASSAY_BASELINE);
    }
    stored_run_release(&read);
    FINE(store_read_timings(store, run.id, &timings));
    for (int i = 0; i < timings.count; i++) {
        bool is_fast = strcmp(timings.rows[i].id.variant, "fast") == 0;
        assert_int_equal(timings.rows[i].id.kind, is_fast ? ASSAY_BOUND : ASSAY_BASELINE);
    }
    assert_true(timings.count >= 2);
    timings_release(&timings);
}

STORE_TEST(the_last_step_is_this_version)
{
    const struct store_step *last = store_steps;
    while (last[1].version)
        last++;
    assert_int_equal(last->version, store_version);
}
