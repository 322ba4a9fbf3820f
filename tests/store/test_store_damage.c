/* test_store_damage.c - databases that this program did not write, or that something else has
 * changed since: no constraint of the schema is relied upon by those who read. */
#include "device/profile.h"
#include "judge/history.h"
#include "store/store_gate.h"
#include "tests/store_fixture.h"

/* A column takes any value from now on: the tables are the same, and state no constraint. */
static const char unconstrained[] = "PRAGMA writable_schema = ON;"
                                    "UPDATE sqlite_schema SET sql ="
                                    " replace(replace(replace(sql, ') STRICT', ')'), ' NOT NULL,', "
                                    "','), ' NOT NULL CHECK', ' CHECK')"
                                    " WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'";

/* A database of one run, changed by `sql` without regard for the schema's constraints. */
static struct store *damaged(void **state, const char *sql, char run_id[STORE_ID])
{
    sqlite3 *db;
    unlink(fixture_path(state, "a.sqlite"));
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(store, "");
    snprintf(run_id, STORE_ID, "%s", run.id);
    FINE(store_exec(store, "test", unconstrained));
    store_close(store);
    assert_int_equal(sqlite3_open(fixture_path(state, "a.sqlite"), &db), SQLITE_OK);
    FINE(sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON", NULL, NULL, NULL));
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
    return fixture_open(state, "a.sqlite", STORE_READ);
}

/* Reading the run's samples, and its CSV, is refused with these words. */
static void refuses(void **state, const char *sql, const char *words)
{
    struct stored_run stored;
    char id[STORE_ID];
    struct store *store = damaged(state, sql, id);
    FAILS(store_read_run(store, id, true, &stored), words);
    store_close(store);
}

/* --------------------------------------------------------------- samples -- */

STORE_TEST(series_of_other_lengths_are_refused)
{
    static const char *const columns[] = {"round", "mark", "busy_ns", "event_ns", "wall_round"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE sample SET %s = x'0000'", columns[i]);
        refuses(state, sql, columns[i]);
        snprintf(sql, sizeof sql, "UPDATE sample SET %s = zeroblob(1000)", columns[i]);
        refuses(state, sql, columns[i]);
    }
    refuses(state, "UPDATE sample SET time_ns = x'00'", "time_ns");
    refuses(state, "UPDATE sample SET wall_ns = zeroblob(7)", "wall_ns");
    refuses(state, "UPDATE sample SET time_ns = 'four times seven characters.'", "time_ns");
    refuses(state, "UPDATE sample SET time_ns = NULL", "event_ns");
    refuses(state, "UPDATE sample SET wall_ns = NULL", "wall_round");
}

STORE_TEST(series_that_are_not_there_are_none)
{
    struct stored_run stored;
    char id[STORE_ID];
    struct store *store =
        damaged(state,
                "UPDATE sample SET round = NULL, mark = NULL, event_ns = NULL, wall_ns = NULL,"
                " wall_round = NULL",
                id);
    FINE(store_read_run(store, id, true, &stored));
    assert_int_equal(stored.cases[0].result.samples.count, FIXTURE_SAMPLES);
    assert_int_equal(stored.cases[0].result.samples.wall_count, 0);
    assert_null(stored.cases[0].result.samples.round);
    stored_run_release(&stored);
    store_close(store);
}

/* ------------------------------------------------------------------ rows -- */

STORE_TEST(a_launch_without_its_device_is_refused)
{
    char id[STORE_ID];
    struct store *store = damaged(state, "DELETE FROM device", id);
    FILE *out = tmpfile();
    assert_non_null(out);
    FAILS(store_export_csv(store, id, NULL, out), "device");
    fclose(out);
    store_close(store);
}

STORE_TEST(words_and_texts_that_are_missing_are_told_or_empty)
{
    struct stored_run stored;
    char id[STORE_ID];
    refuses(state, "UPDATE result SET status = NULL", "is no status");
    refuses(state, "UPDATE result SET temperature = NULL", "is no temperature");
    refuses(state, "UPDATE device SET place = 'moon'", "is no place");
    struct store *store = damaged(state, "UPDATE run SET suite_text = NULL", id);
    FINE(store_read_run(store, id, false, &stored));
    assert_string_equal(stored.suite_text, "");
    stored_run_release(&stored);
    store_close(store);
}

/* A counter of a kernel that is before the first; the profile is on the stack of its reader. */
STORE_TEST(a_counter_of_no_kernel_is_left_out)
{
    struct profile profile;
    struct launch_info launch;
    struct case_result result = fixture_result("fast");
    char id[STORE_ID];
    bool found;
    struct store *store = damaged(
        state,
        "INSERT INTO profile (result_id, activities, span_ns, busy_ns, idle_ns, left_out, passes,"
        " counters_lost) SELECT id, 1, 1, 1, 0, 0, 1, '' FROM result;"
        "INSERT INTO profile_counter (result_id, kernel, ordinal, metric, value)"
        " SELECT id, -2000000, 1, 'inst', 7 FROM result",
        id);
    assert_int_equal(
        store_text(store, "test", "SELECT id FROM launch", NULL, launch.id, sizeof launch.id), 1);
    FINE(store_read_profile(store, launch.id, &result.id, &profile, &found));
    assert_true(found);
    assert_int_equal(profile.counter_count, 0);
    store_close(store);
}

STORE_TEST(a_history_of_no_launches_has_no_times)
{
    struct history history;
    char id[STORE_ID];
    struct store *store = damaged(state, "DELETE FROM device", id);
    FINE(history_read(&history, store, "*"));
    assert_int_equal(history.series_count, 0);
    history_release(&history);
    store_close(store);
}

/* --------------------------------------------------------------- progress -- */

/* The index of cases as that of an older state of the table: what it leads to is not what it
 * says. Which the file can be by a few flipped bytes. */
static const char stale_index[] =
    "PRAGMA writable_schema = ON;"
    "CREATE TABLE old AS SELECT * FROM result;"
    "CREATE INDEX old_case ON old (operation, variant, shape, temperature, place, purpose, status,"
    " launch_id, time_ns);"
    "CREATE TEMP TABLE at AS SELECT rootpage FROM sqlite_schema WHERE name = 'old_case';"
    "UPDATE old SET operation = 'x' || operation;"
    "DELETE FROM sqlite_schema WHERE name IN ('old', 'old_case');"
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM at) WHERE name = 'result_case'";

STORE_TEST(a_history_ends_where_the_index_leads_back)
{
    struct history history;
    char id[STORE_ID];
    struct store *store = damaged(state, stale_index, id);
    FAILS(history_read(&history, store, "*"), "the database is damaged: ");
    store_close(store);
}

static int count_name(const char *name, void *context)
{
    ++*(int *)context;
    return 0;
}

STORE_TEST(names_of_cases_are_told_once_each)
{
    char id[STORE_ID];
    int count = 0;
    struct store *store = damaged(state, stale_index, id);
    FINE(store_each_case_name(store, count_name, &count));
    assert_in_range(count, 1, 4);
    store_close(store);
}

STORE_TEST(values_that_are_no_text_end_a_history_too)
{
    static const char *const changes[] = {
        "UPDATE result SET operation = x'ff00', variant = x'00' || variant",
        "UPDATE result SET shape = zeroblob(1000000)",
        "UPDATE result SET operation = NULL",
        "UPDATE result SET variant = CAST(variant AS BLOB)",
        "UPDATE result SET shape = 9e999",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct history history;
        char id[STORE_ID];
        struct store *store = damaged(state, changes[i], id);
        if (history_read(&history, store, "*") == 0) history_release(&history);
        store_close(store);
    }
}

STORE_TEST(nothing_that_the_schema_holds_is_run)
{
    char id[STORE_ID];
    refuses(state,
            "CREATE TABLE kept AS SELECT * FROM result; PRAGMA foreign_keys = OFF; DROP VIEW cases;"
            " DROP VIEW ceilings; DROP TABLE result; CREATE VIEW result AS WITH RECURSIVE n (i) AS"
            " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT kept.* FROM kept, n",
            "cannot read the cases of a run");
    refuses(state,
            "CREATE TABLE kept AS SELECT * FROM result; PRAGMA foreign_keys = OFF; DROP VIEW cases;"
            " DROP VIEW ceilings; DROP TABLE result; CREATE VIEW result AS SELECT * FROM kept",
            "access to view \"result\" prohibited");

    struct store *store = damaged(
        state,
        "CREATE TRIGGER t AFTER UPDATE ON run BEGIN SELECT count(*) FROM (WITH RECURSIVE n (i) AS"
        " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END",
        id);
    store_close(store);
    store = fixture_open(state, "a.sqlite", STORE_WRITE);
    FINE(store_end_run(store, id, "interrupted"));
    store_close(store);
}

STORE_TEST(a_virtual_table_is_refused)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    FINE(store_exec(store, "test", "CREATE VIRTUAL TABLE extra USING rtree(a, b, c)"));
    store_close(store);
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_READ), "virtual tables");
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_WRITE), "virtual tables");
}
