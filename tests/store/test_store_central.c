/* test_store_central.c - the URL of a central store, where no server is needed. */
#include "store/store_central.h"
#include "tests/store_fixture.h"

TEST(a_url_is_told_from_a_path)
{
    assert_true(store_is_url("postgres://host/db"));
    assert_true(store_is_url("postgresql:///db"));
    assert_false(store_is_url("postgres.sqlite"));
    assert_false(store_is_url("./postgres://host/db"));
    assert_false(store_is_url("http://host/db"));
    assert_false(store_is_url(""));
}

TEST(a_url_is_shown_without_its_password)
{
    static const struct {
        const char *url, *shown;
    } cases[] = {
        {"postgres://me:secret@host:5432/db", "postgres://me@host:5432/db"},
        {"postgres://me:@host/db", "postgres://me@host/db"},
        {"postgres://me:se?cret@host/db", "postgres://me@host/db"},
        {"postgres://host:5432/db", "postgres://host:5432/db"},
        {"postgres://me@host/db?sslmode=verify-full", "postgres://me@host/db?sslmode=verify-full"},
        {"postgres://host/db?password=secret&user=me", "postgres://host/db"},
        {"postgres://host/db?user=me&password=secret", "postgres://host/db?user=me"},
        {"postgres:///db?host=/tmp/a:b@c", "postgres:///db?host=/tmp/a:b@c"},
        {"a:b@c.sqlite", "a:b@c.sqlite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[STORE_SHOWN];
        assert_string_equal(store_shown(cases[i].url, shown), cases[i].shown);
    }
}

TEST(a_run_stands_behind_a_url_as_behind_a_file)
{
    static const struct {
        const char *spec, *path, *run;
    } cases[] = {
        {"postgres://me:secret@host:5432/db:tuned", "postgres://me:secret@host:5432/db", "tuned"},
        {"postgres://host:5432/db", "postgres://host:5432/db", "latest"},
        {"postgres://host/db:", "postgres://host/db", "latest"},
        {"postgres:///db?host=/tmp/x:a:b", "postgres:///db?host=/tmp/x", "a:b"},
        {"postgres://host:5432", "postgres://host:5432", "latest"},
        {"postgres://host/db:a.sqlite:b", "postgres://host/db", "a.sqlite:b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        const char *run;
        FINE(store_split_run(cases[i].spec, "default", path, sizeof path, &run));
        assert_string_equal(path, cases[i].path);
        assert_string_equal(run, cases[i].run);
    }
}

TEST(a_central_store_is_not_opened_for_writing)
{
    struct store *store;
    FAILS(store_open(&store, "postgres://me:secret@host/db", STORE_WRITE), "assay push");
    FAILS(store_open(&store, "postgres://host/db", STORE_CHANGE), "assay push");
    assert_null(store);
}
