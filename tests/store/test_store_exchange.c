/* test_store_exchange.c - runs leave by NDJSON and CSV, and come back the same by NDJSON. */
#include "base/markup.h"
#include "device/profile.h"
#include "tests/store_fixture.h"

typedef int export_function(struct store *store, const char *run_id, FILE *out);
typedef int import_function(struct store *store, const char *name, FILE *in, int *rows);

static int csv_of_all(struct store *store, const char *run_id, FILE *out)
{
    return store_export_csv(store, run_id, NULL, out);
}

static char *exported(struct store *store, const char *run_id, export_function *export_run)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    FINE(export_run(store, run_id, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static int import_text(struct store *store, const char *text, size_t size, import_function *import)
{
    int rows = -2;
    FILE *in = fmemopen((void *)text, size, "r");
    int status = import(store, "in", in, &rows);
    fclose(in);
    if (status != 0) assert_int_equal(rows, 0);
    return status == 0 ? rows : -1;
}

static int imported(struct store *store, const char *text, import_function *import)
{
    return import_text(store, text, strlen(text), import);
}

/* Every row of every table, in an order that does not depend on history. */
static char *contents(struct store *store)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct query query;
    query_open(&query, store, "list the runs", "SELECT id FROM run ORDER BY id");
    while (query_step(&query) == 1) {
        char *run = exported(store, (const char *)sqlite3_column_text(query.statement, 0),
                             store_export_ndjson);
        fputs(run, out);
        free(run);
    }
    FINE(query_close(&query));
    fclose(out);
    return text;
}

/* A profile of the first launch's fast case. */
static void add_profile(struct store *store)
{
    struct case_result fast = fixture_result("fast");
    struct profile *profile = malloc(sizeof *profile);
    struct query query;
    char launch[STORE_ID] = "";
    query_open(&query, store, "find the launch", "SELECT id FROM launch");
    if (query_step(&query) == 1) column_text(&query, "id", launch, sizeof launch);
    FINE(query_close(&query));

    profile_init(profile);
    profile->activities = profile->kernel_count = profile->counter_count = 1;
    profile->span_ns = profile->busy_ns = 1.0 / 3;
    profile->idle_ns = 0;
    profile->passes = 2;
    strcpy(profile->kernels[0].name, "void fill<float>(float*, \"odd\")");
    strcpy(profile->counter[0], "dram__bytes_read.sum");
    profile->kernels[0].counter[0] = 2.0 / 3; /* and of the whole none: NULL */
    FINE(store_profile(store, launch, &fast.id, profile));
    free(profile);
}

/* --------------------------------------------------------------- ndjson -- */

STORE_TEST(an_export_of_an_import_is_the_same_text)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(a, "label with \"quotes\" and \n");
    char *first = exported(a, run.id, store_export_ndjson);
    /* header, environment, run, object, device, launch, 2 expected, 2 results, 6 metrics, 2 spans,
     * 2 samples */
    int lines = 0;
    for (const char *c = first; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 20);
    assert_int_equal(imported(b, first, store_import_ndjson), 19);
    char *second = exported(b, run.id, store_export_ndjson);
    assert_string_equal(first, second);
    free(first);
    free(second);
    store_close(a);
    store_close(b);
}

STORE_TEST(every_stored_bit_survives_ndjson)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(a, "");
    add_profile(a);
    char *text = exported(a, run.id, store_export_ndjson), attach[256];
    imported(b, text, store_import_ndjson);
    free(text);
    store_close(b);
    snprintf(attach, sizeof attach, "ATTACH '%s' AS b", fixture_path(state, "b.sqlite"));
    FINE(store_exec(a, "test", attach));
    for (const struct exchange *table = exchange_tables; *table->rows; table++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "SELECT (SELECT count(*) FROM main.%s) + (SELECT count(*) FROM"
                 " (SELECT * FROM main.%s EXCEPT SELECT * FROM b.%s)) * 1000",
                 table->table, table->table, table->table);
        char rows[256];
        snprintf(rows, sizeof rows, "SELECT count(*) FROM b.%s", table->table);
        assert_int_equal(fixture_integer(a, sql), fixture_integer(a, rows));
        assert_true(fixture_integer(a, rows) > 0);
    }
    store_close(a);
}

STORE_TEST(a_second_import_adds_nothing)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(a, "");
    char *text = exported(a, run.id, store_export_ndjson);
    assert_int_equal(imported(a, text, store_import_ndjson), 0);
    assert_int_equal(imported(b, text, store_import_ndjson), 19);
    assert_int_equal(imported(b, text, store_import_ndjson), 0);
    free(text);
    store_close(a);
    store_close(b);
}

/* Two runs, one of them also as it was before it ended. */
STORE_TEST(merging_in_any_order_gives_the_same)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const struct device_state end = {.temperature_c = 70};
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    char *part[3], *wanted = NULL;
    struct run_info one = fixture_begin_run(a, "one");
    struct launch_info launch = fixture_begin_launch(a, one.id, 1);
    fixture_case(a, launch.id, "fast");
    part[0] = exported(a, one.id, store_export_ndjson);
    fixture_case(a, launch.id, "slow");
    FINE(store_end_launch(a, launch.id, &end, &launch.around));
    FINE(store_end_run(a, one.id, "complete"));
    part[1] = exported(a, one.id, store_export_ndjson);
    struct run_info two = fixture_run(a, "two");
    part[2] = exported(a, two.id, store_export_ndjson);
    wanted = contents(a);

    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.sqlite", i);
        struct store *b = fixture_open(state, name, STORE_WRITE);
        for (int j = 0; j < 3; j++)
            assert_true(imported(b, part[orders[i][j]], store_import_ndjson) >= 0);
        char *got = contents(b);
        assert_string_equal(got, wanted);
        free(got);
        store_close(b);
    }
    for (int i = 0; i < 3; i++)
        free(part[i]);
    free(wanted);
    store_close(a);
}

#define HEADER "{\"assay_ndjson\":1,\"table\":\"header\",\"schema\":1}\n"
#define ROW    "{\"assay_ndjson\":1,\"table\":"

STORE_TEST(a_bad_line_is_named_and_nothing_is_taken)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"", "the file is empty"},
        {"hello\n", "in:1: not a JSON object"},
        {"[1]\n", "in:1: not a JSON object"},
        {"{\"table\":\"run\"}\n", "in:1: not a line of an assay export"},
        {ROW "\"run\",\"id\":\"x\"}\n", "in:1: the first line must be the header"},
        {"{\"assay_ndjson\":2,\"table\":\"header\",\"schema\":1}\n", "in:1: made by a newer assay"},
        {"{\"assay_ndjson\":1,\"table\":\"header\",\"schema\":99}\n",
         "in:1: made by a newer assay"},
        {"{\"assay_ndjson\":1,\"table\":\"header\"}\n", "in:1: the header lacks"},
        {HEADER ROW "\"baseline\",\"name\":\"x\"}\n", "in:2: there is no table 'baseline'"},
        {HEADER ROW "\"run; DROP TABLE run\"}\n", "there is no table 'run; DROP TABLE run'"},
        {HEADER "\n" ROW "\"device\",\"id) --\":1}\n", "in:3: the table has no column 'id) --'"},
        {HEADER ROW "\"device\",\"id\":\"x\"}\n", "NOT NULL constraint failed: device.place"},
        {HEADER ROW "\"device\",\"id\":7}\n", "id must be text or null, not integer"},
        {HEADER ROW "\"device\",\"cores\":7}\n", "no column 'cores'"},
        {HEADER ROW "\"device\",\"multiprocessors\":\"7\"}\n", "must be a whole number"},
        {HEADER ROW "\"device\",\"multiprocessors\":1.5}\n", "must be a whole number"},
        {HEADER ROW "\"device\",\"multiprocessors\":99999999999999999999}\n",
         "must be a whole number"},
        {HEADER ROW "\"device\",\"sm_mhz_max\":\"fast\"}\n", "sm_mhz_max must be a number"},
        {HEADER ROW "\"sample\",\"time_ns\":3}\n", "time_ns must be an array"},
        {HEADER ROW "\"sample\",\"time_ns\":[1,\"2\"]}\n", "array of numbers and nulls"},
        {HEADER ROW "\"sample\",\"time_ns\":[[1]]}\n", "array of numbers and nulls"},
        {HEADER ROW "\"sample\",\"round\":[65536]}\n", "whole numbers from 0 to 65535"},
        {HEADER ROW "\"sample\",\"round\":[1.5]}\n", "whole numbers from 0 to 65535"},
        {HEADER ROW "\"sample\",\"mark\":[-1]}\n", "whole numbers from 0 to 255"},
        {HEADER ROW "\"sample\",\"result_id\":\"x\",\"time_ns\":[1]}\n", "FOREIGN KEY"},
        {HEADER ROW "\"sample\",\"result_id\":\"x\",\"time_ns\":[1],\"round\":[1,2]}\n", "CHECK"},
    };
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        FAILS(imported(store, bad[i].text, store_import_ndjson), bad[i].error);
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM device"), 0);
    static const char nul[] = HEADER "{\"a\":\0}\n";
    FAILS(import_text(store, nul, sizeof nul - 1, store_import_ndjson), "in:2: there is a NUL");
    store_close(store);
}

STORE_TEST(a_file_cut_short_changes_nothing)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct run_info run = fixture_run(a, "");
    char *text = exported(a, run.id, store_export_ndjson);
    text[strlen(text) - 10] = '\0';
    FAILS(imported(b, text, store_import_ndjson), "in:20: not a JSON object");
    assert_int_equal(fixture_integer(b, "SELECT count(*) FROM run"), 0);
    assert_int_equal(fixture_integer(b, "SELECT count(*) FROM environment"), 0);
    free(text);
    store_close(a);
    store_close(b);
}

STORE_TEST(numbers_are_the_shortest_that_read_back)
{
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{0.1, "0.1"},        {0.1 + 0.2, "0.30000000000000004"},
                   {1e300, "1e+300"},   {5e-324, "4.94065645841247e-324"},
                   {-0.0, "-0"},        {2016, "2016"},
                   {INFINITY, "9e999"}, {-INFINITY, "-9e999"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[NUMBER_SIZE];
        number_text(numbers[i].value, text);
        assert_string_equal(text, numbers[i].text);
        assert_true(strtod(text, NULL) == numbers[i].value);
    }
}

/* ------------------------------------------------------------------ csv -- */

enum { MAX_FIELDS = 160 };

/* The fields of the record at *at, quotes taken off in place; *at moves behind it. How many. */
static int csv_record(char **at, char *field[MAX_FIELDS])
{
    int count = 0;
    for (char after = ','; after == ','; count++) {
        char *from = *at, *to = *at;
        bool quoted = *from == '"';
        assert_true(count < MAX_FIELDS);
        field[count] = to;
        for (from += quoted; quoted ? *from != '"' || from[1] == '"' : !strchr(",\n", *from);)
            from += 1 + (quoted && *from == '"'), *to++ = from[-1];
        from += quoted;
        after = *from;
        assert_true(after == ',' || after == '\n');
        *to = '\0';
        *at = from + 1;
    }
    return count;
}

static const char *csv_field(char *const header[], char *const field[], int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(header[i], name) == 0) return field[i];
    fail_msg("there is no column %s", name);
    return NULL;
}

OPEN_STORE_TEST(csv_has_a_header_and_a_row_a_case)
{
    struct run_info run = fixture_run(store, "line\nbreak, \"quote\"");
    char *text = exported(store, run.id, csv_of_all), *at = text;
    char *header[MAX_FIELDS], *field[MAX_FIELDS];
    int columns = csv_record(&at, header);
    assert_string_equal(header[0], "operation");
    assert_int_equal(csv_record(&at, field), columns);
    assert_string_equal(field[1], "fast");
    assert_string_equal(csv_field(header, field, columns, "run_label"), "line break, \"quote\"");
    assert_string_equal(csv_field(header, field, columns, "run_id"), run.id);
    assert_string_equal(csv_field(header, field, columns, "run_status"), "complete");
    assert_string_equal(csv_field(header, field, columns, "launch_number"), "1");
    assert_string_equal(csv_field(header, field, columns, "launch_clock"), "cupti");
    assert_string_equal(csv_field(header, field, columns, "launch_seed"), "18364758544493064720");
    assert_string_equal(csv_field(header, field, columns, "device_name"), "NVIDIA H200");
    assert_string_equal(csv_field(header, field, columns, "program_git_commit"), "0123abc");
    assert_string_equal(csv_field(header, field, columns, "host_cpu"), "A \"CPU\"");
    assert_string_equal(csv_field(header, field, columns, "metrics"),
                        "sqnr_db=40.123456789012344 mse=1e-300 none=");
    assert_int_equal(csv_record(&at, field), columns);
    assert_string_equal(field[1], "slow");
    assert_string_equal(at, "");
    free(text);
}

/* Every column of `result` but its place there, to the last bit. */
OPEN_STORE_TEST(csv_has_every_figure_of_a_case)
{
    struct run_info run = fixture_run(store, "");
    char *text = exported(store, run.id, csv_of_all), *at = text;
    char *header[MAX_FIELDS], *field[MAX_FIELDS];
    int columns = csv_record(&at, header), compared = 0;
    struct query query;
    query_open(&query, store, "read the cases", "SELECT * FROM result ORDER BY ordinal");
    while (query_step(&query) == 1) {
        csv_record(&at, field);
        for (int i = 0; i < sqlite3_column_count(query.statement); i++, compared++) {
            const char *name = sqlite3_column_name(query.statement, i);
            if (!strcmp(name, "id") || !strcmp(name, "ordinal") || !strcmp(name, "measured_at") ||
                !strcmp(name, "begun_at"))
                continue;
            const char *value = csv_field(header, field, columns, name);
            int type = sqlite3_column_type(query.statement, i);
            if (type == SQLITE_NULL)
                assert_string_equal(value, "");
            else if (type == SQLITE_FLOAT)
                assert_true(strtod(value, NULL) == sqlite3_column_double(query.statement, i));
            else if (type == SQLITE_INTEGER)
                assert_true((int64_t)strtoull(value, NULL, 10) ==
                            sqlite3_column_int64(query.statement, i));
            else
                assert_string_equal(value, (const char *)sqlite3_column_text(query.statement, i));
        }
    }
    FINE(query_close(&query));
    assert_true(compared > 90);
    free(text);
}

STORE_TEST(csv_fields_follow_rfc_4180)
{
    static const char *const fields[] = {"plain", "a,\"b\"", "", "two\nlines", "x\ry"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 5; i++)
        csv_write(out, fields[i], i < 4 ? ',' : '\n');
    fclose(out);
    assert_string_equal(text, "plain,\"a,\"\"b\"\"\",,\"two\nlines\",\"x\ry\"\n");
    free(text);
}

/* A spreadsheet computes them; numbers and dashes are what they were. */
STORE_TEST(csv_texts_are_no_formulas)
{
    static const char *const fields[] = {"=1+1", "@SUM(A1)", "+a", "-x,y", "-1.5e-3", "+2", "-"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 7; i++)
        csv_write(out, fields[i], i < 6 ? ',' : '\n');
    fclose(out);
    assert_string_equal(text, "'=1+1,'@SUM(A1),'+a,\"'-x,y\",-1.5e-3,+2,-\n");
    free(text);
}
