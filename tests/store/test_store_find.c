/* test_store_find.c - runs are found, by what people type, and listed. */
#include "store/store_gate.h"
#include "tests/store_fixture.h"

static void assert_finds(struct store *store, const char *spec, const char *id)
{
    char found[STORE_ID];
    FINE(store_find_run(store, spec, found));
    assert_string_equal(found, id);
}

OPEN_STORE_TEST(a_run_is_found_by_id_label_baseline_and_age)
{
    struct run_info first = fixture_run(store, "tuned");
    struct run_info second = fixture_run(store, "tuned");
    struct run_info third = fixture_run(store, "");
    char prefix[9], sql[256];

    snprintf(prefix, sizeof prefix, "%.8s", first.id);
    assert_finds(store, prefix, first.id);
    assert_finds(store, first.id, first.id);
    for (char *c = prefix; *c; c++)
        if (*c >= 'a') *c -= 'a' - 'A';
    assert_finds(store, prefix, first.id);
    assert_finds(store, "tuned", second.id);
    assert_finds(store, "latest", third.id);
    assert_finds(store, "latest~0", third.id);
    assert_finds(store, "latest~2", first.id);

    snprintf(sql, sizeof sql, "INSERT INTO baseline VALUES ('main', '%s', '', '')", first.id);
    FINE(store_exec(store, "test", sql));
    assert_finds(store, "main", first.id);
}

static int take_first(const struct run_line *line, void *context)
{
    char *first = context;
    if (!first[0]) snprintf(first, STORE_ID, "%s", line->id);
    return 0;
}

/* The clock was wrong when it was measured. */
OPEN_STORE_TEST(a_run_of_the_future_is_not_the_latest)
{
    struct run_info future = fixture_run(store, "tuned");
    FINE(store_exec(store, "test", "UPDATE run SET started_at = '2999-01-01T00:00:00.000Z'"));
    assert_finds(store, "latest", future.id); /* where there is no other */
    struct run_info now = fixture_run(store, "tuned");
    char newest[STORE_ID], first[STORE_ID] = "";
    assert_finds(store, "latest", now.id);
    assert_finds(store, "latest~1", future.id);
    assert_finds(store, "tuned", now.id);
    FINE(store_find_newest(store, newest));
    assert_string_equal(newest, now.id);
    FINE(store_each_run(store, true, take_first, first));
    assert_string_equal(first, now.id);
}

OPEN_STORE_TEST(a_run_that_is_not_there_gets_a_suggestion)
{
    char id[STORE_ID];
    FAILS(store_find_run(store, "latest", id), "there is no run in it");
    fixture_run(store, "tuned-rcp");
    FAILS(store_find_run(store, "tuned-rpc", id), "did you mean 'tuned-rcp'?");
    FAILS(store_find_run(store, "lastest", id), "did you mean 'latest'?");
    FAILS(store_find_run(store, "qqqqqqqqqqqqqqqqqqqqqqq", id), "a label, a baseline");
    FAILS(store_find_run(store, "latest~1", id), "goes back too far: it holds 1 run");
    FAILS(store_find_run(store, "", id), "there is no run ''");
}

OPEN_STORE_TEST(an_ambiguous_prefix_lists_the_runs)
{
    struct run_info run = fixture_begin_run(store, "");
    char id[STORE_ID], sql[512];
    for (int i = 0; i < 2; i++) {
        snprintf(
            sql, sizeof sql,
            "INSERT INTO run (id, environment_id, suite, label, command, suite_text, simulated,"
            " status, started_at, ended_at) SELECT 'abcd%d', environment_id, suite, label,"
            " command, suite_text, simulated, status, started_at, ended_at FROM run WHERE id = "
            "'%s'",
            i, run.id);
        FINE(store_exec(store, "test", sql));
    }
    FAILS(store_find_run(store, "abcd", id), "abcd1, abcd0");
    assert_finds(store, "abcd1", "abcd1");
    FAILS(store_find_run(store, "abc", id), "there is no run 'abc'");
}

STORE_TEST(the_path_before_a_run_picks_the_database)
{
    static const struct {
        const char *spec, *path, *run;
    } specs[] = {
        {"latest", "default", "latest"},
        {"", "default", "latest"},
        {"a/b.sqlite:abcd", "a/b.sqlite", "abcd"},
        {"b.sqlite", "b.sqlite", "latest"},
        {"b.sqlite:", "b.sqlite", "latest"},
        {"x.sqlite.d/b.sqlite:l:1", "x.sqlite.d/b.sqlite", "l:1"},
        {"label:1", "default", "label:1"},
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        char path[64];
        const char *run;
        FINE(store_split_run(specs[i].spec, "default", path, sizeof path, &run));
        assert_string_equal(path, specs[i].path);
        assert_string_equal(run, specs[i].run);
    }
    char tiny[4];
    const char *run;
    FAILS(store_split_run("long.sqlite:x", "", tiny, sizeof tiny, &run), "too long");
}

static int count_line(const struct run_line *line, void *context)
{
    struct run_line *last = context;
    last->launches++;
    last->cases += line->cases;
    last->ok += line->ok;
    snprintf(last->label, sizeof last->label, "%s", line->label);
    assert_string_equal(line->device, "NVIDIA H200");
    return 0;
}

static int stop(const struct run_line *line, void *context)
{
    ++*(int *)context;
    return -1;
}

OPEN_STORE_TEST(runs_are_listed_newest_first_until_told_to_stop)
{
    struct run_line sum = {0};
    int calls = 0;
    fixture_run(store, "old");
    fixture_run(store, "new");
    FINE(store_each_run(store, false, count_line, &sum));
    assert_int_equal(sum.launches, 2);
    assert_int_equal(sum.cases, 4);
    assert_int_equal(sum.ok, 4);
    assert_string_equal(sum.label, "old");
    FINE(store_each_run(store, false, stop, &calls));
    assert_int_equal(calls, 1);
}

static int last_line(const struct run_line *line, void *context)
{
    struct run_line *last = context;
    int count = last->launches + 1;
    *last = *line;
    last->launches = count; /* how many lines there were */
    return 0;
}

OPEN_STORE_TEST(launches_of_a_gate_are_one_line_when_asked_for)
{
    struct run_line apart = {0}, together = {0};
    struct run_info first = fixture_run(store, "gate 0123abcd round 1, base");
    fixture_run(store, "gate 0123abcd round 1, candidate");
    fixture_run(store, "another");
    fixture_run(store, "gate 4567cdef round 1, unchanged");
    FINE(store_each_run(store, false, last_line, &apart));
    assert_int_equal(apart.launches, 4);
    FINE(store_each_run(store, true, last_line, &together));
    assert_int_equal(together.launches, 3);
    assert_string_equal(together.id, first.id);
    assert_string_equal(together.gate, "0123abcd");
    assert_string_equal(together.gate_mode, ""); /* nothing was decided */
    assert_int_equal(together.gate_exit, -1);
    assert_int_equal(together.cases, 4); /* of both */
}

static void end_gate(struct store *store, const char *id)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT INTO gate (id, mode, suite, base, candidate, comparability, judged_at, exit)"
             " VALUES ('%s', 'paired', 'smoke', 'a', 'b', 'key', '', 0)",
             id);
    FINE(store_exec(store, "test", sql));
}

static void assert_unfinished(struct store *store, const char *session, int last)
{
    char found[STORE_ID];
    int round = 0;
    FINE(store_unfinished_gate(store, "smoke", found, &round));
    assert_int_equal(strlen(found), STORE_ID - 1);
    assert_memory_equal(found, session, strlen(session));
    assert_int_equal(round, last);
}

OPEN_STORE_TEST(the_newest_gate_without_a_decision_is_gone_on_with)
{
    fixture_run(store, "gate 0123abcd round 9, base");
    fixture_run(store, "gate 0123abcd round 10, base again");
    assert_unfinished(store, "0123abcd", 10);
    fixture_run(store, "gate 4567cdef round 1, base");
    assert_unfinished(store, "4567cdef", 1);
    end_gate(store, "4567cdef89abcdef0123456789abcdef");
    assert_unfinished(store, "0123abcd", 10);
}

OPEN_STORE_TEST(a_gate_keeps_the_id_that_its_noise_has_already)
{
    static const char session[] = "0123abcd0123456789abcdef00112233";
    struct noise_block block = {.rounds = 6, .time_ns = 1000, .shift = 0.01, .spread = 0.01};
    fixture_run(store, "gate 0123abcd round 1, base");
    strcpy(block.session, session);
    FINE(store_add_noise(store, "key", "null", "time", &block));
    assert_unfinished(store, session, 1);
}

OPEN_STORE_TEST(what_is_no_gate_of_two_programs_is_not_gone_on_with)
{
    char session[STORE_ID];
    int last;
    fixture_run(store, "tuned");
    fixture_run(store, "gate 0123abcd round 1, unchanged"); /* of a calibration */
    fixture_run(store, "gate 4567cdef round 1, candidate"); /* against a stored run */
    FAILS(store_unfinished_gate(store, "smoke", session, &last),
          "no gate of 'smoke' is unfinished: there is nothing to resume");
    fixture_run(store, "gate 89abcdef round 1, base");
    FAILS(store_unfinished_gate(store, "core", session, &last), "no gate of 'core' is unfinished");
}

OPEN_STORE_TEST(of_launches_with_one_label_the_newest_counts)
{
    static const char label[] = "gate 0123abcd round 9, base";
    char id[STORE_ID];
    fixture_run(store, label);
    struct run_info newest = fixture_run(store, label);
    assert_int_equal(store_find_label(store, label, id), 1);
    assert_string_equal(id, newest.id);
}
