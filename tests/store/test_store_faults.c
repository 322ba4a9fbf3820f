/*
 * test_store_faults.c - what may befall a database: kills, other writers, other
 * files, no permission, no room. Each is one clear sentence and leaves what was
 * complete.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/store_fixture.h"

#include "base/error.h"

/* A case of its own shape: the i-th of many. */
static int many_case(struct store *store, const char *launch_id, int i)
{
    struct case_result result = fixture_result("fast");
    struct group group = fixture_group(PURPOSE_CASE, "");
    fixture_samples(&result.samples);
    snprintf(result.id.shape, sizeof result.id.shape, "n=%d", i);
    int status = store_cases(store, launch_id, &group, &result, 1, NULL);
    samples_release(&result.samples);
    return status;
}

static int restore_timeout(void **state)
{
    unsetenv("ASSAY_DB_TIMEOUT_MS");
    unsetenv("ASSAY_SYNCHRONOUS");
    return fixture_teardown(state);
}

TEST_WITH(a_kill_loses_no_complete_case_and_leaves_no_half_one, fixture_setup, restore_timeout)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    store_close(store);

    int64_t told_before = 0;
    for (int round = 0; round < 5; round++) {
        int told[2], last = -1, number;
        assert_int_equal(pipe(told), 0);
        pid_t child = fork();
        if (child == 0) {
            if (store_open(&store, fixture_path(state, "a.sqlite"), STORE_WRITE) != 0) _exit(1);
            for (int i = 0;; i++) {
                if (many_case(store, launch.id, round * 1000000 + i) != 0) _exit(1);
                if (write(told[1], &i, sizeof i) != sizeof i) _exit(1);
            }
        }
        close(told[1]);
        /* Some cases, then the kill wherever it falls in the next. */
        for (int i = 0; i < 20 && read(told[0], &number, sizeof number) == sizeof number; i++)
            last = number;
        nanosleep(&(struct timespec){.tv_nsec = 300000L * (round + 1)}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(told[0], &number, sizeof number) == sizeof number)
            last = number;
        close(told[0]);
        assert_true(last >= 19);

        store = fixture_open(state, "a.sqlite", STORE_READ);
        int64_t results = fixture_integer(store, "SELECT count(*) FROM result");
        told_before += last + 1;
        /* The one under way may have been committed and not told. */
        assert_in_range(results, told_before, told_before + 1);
        told_before = results;
        assert_int_equal(fixture_integer(store, "SELECT count(*) FROM sample"), results);
        assert_int_equal(fixture_integer(store, "SELECT count(*) FROM metric"), 3 * results);
        assert_int_equal(fixture_integer(store, "SELECT count(*) FROM pragma_integrity_check"
                                                " WHERE integrity_check = 'ok'"),
                         1);
        store_close(store);
    }
}

TEST_WITH(two_writers_at_once_both_complete, fixture_setup, restore_timeout)
{
    enum { WRITERS = 2, CASES = 60 };
    pid_t child[WRITERS];
    for (int i = 0; i < WRITERS; i++) { /* neither finds a database: both make it */
        child[i] = fork();
        if (child[i] != 0) continue;
        struct store *store;
        struct group group;
        struct plan plan = fixture_plan(&group);
        struct run_info run = {.suite = "smoke", .suite_text = ""};
        if (store_open(&store, fixture_path(state, "a.sqlite"), STORE_WRITE) != 0 ||
            store_begin_run(store, &run, &fixture_program, &fixture_host) != 0)
            _exit(1);
        struct launch_info launch = fixture_launch(run.id, 1);
        if (store_begin_launch(store, &launch, &plan) != 0) _exit(2);
        for (int j = 0; j < CASES; j++)
            if (many_case(store, launch.id, j) != 0) _exit(3);
        store_close(store);
        _exit(0);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        waitpid(child[i], &status, 0);
        assert_int_equal(status, 0);
    }
    struct store *store = fixture_open(state, "a.sqlite", STORE_READ);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM run"), WRITERS);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM result"), WRITERS * CASES);
    store_close(store);
}

TEST_WITH(a_reader_does_not_wait_for_a_writer, fixture_setup, restore_timeout)
{
    struct store *writer = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(writer, "");
    struct stored_run stored;
    setenv("ASSAY_DB_TIMEOUT_MS", "0", 1);
    FINE(store_begin(writer, "test"));
    struct store *reader = fixture_open(state, "a.sqlite", STORE_READ);
    FINE(store_read_run(reader, run.id, true, &stored));
    stored_run_release(&stored);
    store_close(reader);
    FINE(store_finish(writer, "test", 0));
    store_close(writer);
}

TEST_WITH(a_locked_database_is_said_after_the_timeout, fixture_setup, restore_timeout)
{
    struct store *holder = fixture_open(state, "a.sqlite", STORE_WRITE);
    setenv("ASSAY_DB_TIMEOUT_MS", "30", 1);
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = {.suite = "smoke"};
    FINE(store_begin(holder, "test"));
    FAILS(store_begin_run(store, &run, &fixture_program, &fixture_host),
          "locked by another process (waited 0.03 s)");
    FINE(store_finish(holder, "test", 0));
    FINE(store_begin_run(store, &run, &fixture_program, &fixture_host));
    store_close(store);
    store_close(holder);
}

/* ---------------------------------------------------------- other files -- */

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

TEST_WITH(a_file_that_is_no_database_is_refused_and_left_alone, fixture_setup, restore_timeout)
{
    static const char text[] = "a text of more than a hundred bytes, so that it has the length of "
                               "the header of a database but not what stands in one\n";
    const char *path = fixture_path(state, "a.sqlite");
    struct store *store;
    char after[sizeof text] = "";
    write_file(path, text, sizeof text - 1);
    FAILS(store_open(&store, path, STORE_WRITE), "is not a database");
    assert_null(store);
    FAILS(store_open(&store, path, STORE_READ), "is not a database");
    FILE *file = fopen(path, "r");
    assert_int_equal(fread(after, 1, sizeof after, file), sizeof text - 1);
    fclose(file);
    assert_string_equal(after, text);
}

TEST_WITH(another_programs_database_is_refused_and_left_alone, fixture_setup, restore_timeout)
{
    const char *path = fixture_path(state, "a.sqlite");
    struct store *store;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE theirs (x)", NULL, NULL, NULL), SQLITE_OK);
    FAILS(store_open(&store, path, STORE_WRITE), "not one of assay's");
    FAILS(store_open(&store, path, STORE_READ), "not one of assay's");
    sqlite3_stmt *count;
    sqlite3_prepare_v2(db, "SELECT count(*) FROM sqlite_schema", -1, &count, NULL);
    assert_int_equal(sqlite3_step(count), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(count, 0), 1);
    sqlite3_finalize(count);
    sqlite3_close(db);
}

TEST_WITH(what_is_missing_or_a_folder_is_said, fixture_setup, restore_timeout)
{
    struct store *store;
    FAILS(store_open(&store, fixture_path(state, "none.sqlite"), STORE_READ),
          "there is no database");
    FAILS(store_open(&store, *state, STORE_WRITE), "is a folder");
    FAILS(store_open(&store, fixture_path(state, "a/b/c.sqlite"), STORE_WRITE),
          "cannot make the folder");
    write_file(fixture_path(state, "empty.sqlite"), "", 0);
    FAILS(store_open(&store, fixture_path(state, "empty.sqlite"), STORE_READ), "is empty");
    store = fixture_open(state, "empty.sqlite", STORE_WRITE);
    store_close(store);
}

TEST_WITH(the_folder_of_a_new_database_is_made, fixture_setup, restore_timeout)
{
    struct store *store = fixture_open(state, "results/a.sqlite", STORE_WRITE);
    store_close(store);
    assert_int_equal(access(fixture_path(state, "results/a.sqlite"), F_OK), 0);
}

/* ------------------------------------------------- permission and room -- */

/* Run `child` as a user without rights to the files; its exit status. */
static int as_nobody(int (*child)(const char *path), const char *path)
{
    int status;
    pid_t process = fork();
    if (process == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
        _exit(child(path));
    }
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int said(const char *words)
{
    if (strstr(assay_last_error(), words)) return 0;
    fprintf(stderr, "said: %s\n", assay_last_error());
    return 1;
}

static int write_read_only(const char *path)
{
    struct store *store;
    if (store_open(&store, path, STORE_WRITE) == 0) return 2;
    return said("read-only");
}

static int read_read_only(const char *path)
{
    struct store *store;
    char id[STORE_ID];
    struct stored_run run;
    if (store_open(&store, path, STORE_READ) != 0) return said("(no failure)");
    if (store_find_run(store, "latest", id) != 0) return 2;
    if (store_read_run(store, id, true, &run) != 0) return said("(no failure)");
    return run.case_count == 2 && run.cases[0].result.samples.count == FIXTURE_SAMPLES ? 0 : 3;
}

static int make_in_read_only(const char *path)
{
    struct store *store;
    if (store_open(&store, path, STORE_WRITE) == 0) return 2;
    return said("Permission denied");
}

TEST_WITH(a_read_only_database_is_read_and_not_written, fixture_setup, restore_timeout)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    fixture_run(store, "");
    store_close(store);
    chmod(fixture_path(state, "a.sqlite"), 0444);
    chmod(*state, 0555);
    assert_int_equal(as_nobody(write_read_only, fixture_path(state, "a.sqlite")), 0);
    assert_int_equal(as_nobody(read_read_only, fixture_path(state, "a.sqlite")), 0);
    assert_int_equal(as_nobody(make_in_read_only, fixture_path(state, "new.sqlite")), 0);
    assert_int_equal(as_nobody(make_in_read_only, fixture_path(state, "new/new.sqlite")), 0);
    chmod(*state, 0755);
}

TEST_WITH(a_full_disk_is_said_and_keeps_what_was_complete, fixture_setup, restore_timeout)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    char limit[64];
    int stored = 0;
    snprintf(limit, sizeof limit, "PRAGMA max_page_count = %lld",
             (long long)fixture_integer(store, "PRAGMA page_count") + 8);
    FINE(store_exec(store, "test", limit));
    while (many_case(store, launch.id, stored) == 0)
        assert_true(++stored < 1000);
    assert_non_null(strstr(assay_last_error(), "cannot store a case: the disk is full"));
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM result"), stored);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM sample"), stored);

    FINE(store_exec(store, "test", "PRAGMA max_page_count = 100000")); /* room again */
    FINE(many_case(store, launch.id, stored));
    store_close(store);
}

TEST_WITH(what_a_loss_of_power_takes_can_be_chosen, fixture_setup, restore_timeout)
{
    enum { NORMAL = 1, FULL = 2 };
    static const struct {
        const char *wanted;
        int level;
    } cases[] = {{NULL, NORMAL}, {"", NORMAL}, {"normal", NORMAL}, {"full", FULL}};
    struct store *store;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].wanted) setenv("ASSAY_SYNCHRONOUS", cases[i].wanted, 1);
        store = fixture_open(state, "a.sqlite", STORE_WRITE);
        assert_int_equal(fixture_integer(store, "PRAGMA synchronous"), cases[i].level);
        store_close(store);
    }
    setenv("ASSAY_SYNCHRONOUS", "ful", 1);
    FAILS(store_open(&store, fixture_path(state, "a.sqlite"), STORE_WRITE),
          "ASSAY_SYNCHRONOUS is normal or full, not 'ful'");
}
