/*
 * store_history.c - reads what a history is made of. Launches once, all of them;
 * then the cases that there are, by seeks in the index result_case and never a
 * scan; then the times of each case that the filter takes, found by that index.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/stats.h"
#include "judge/history.h"
#include "store/store_gate.h"
#include "store/store_internal.h"

static const char purpose[] = "read the history";

struct launch_key {
    char id[STORE_ID];
    int run, setting;
};

struct reader {
    struct store *store;
    struct history *history;
    struct launch_key *launches; /* by id */
    int launch_count;
};

/* One result: a launch's time, or none. */
struct launch_time {
    int run, setting;
    struct interval time_ns; /* NAN: not ok */
};

static const char what[] = "the history";

/* ------------------------------------------------------------ launches -- */

static FIELD_TABLE(run_columns, FIELD_AS("run_id", history_run, id),
                   FIELDS(history_run, suite, label), FIELD_AS("git_commit", history_run, commit),
                   FIELD_AS("run_started", history_run, started_at));

static int add_run(struct history *history, struct query *query)
{
    struct history_run run;
    fields_read(query, run_columns, &run);
    int last = history->run_count - 1;
    if (last >= 0 && strcmp(history->runs[last].id, run.id) == 0) return 0;
    return grow_keep(&history->runs, &history->run_count, &run, sizeof run, what);
}

static int add_setting(struct history *history, struct query *query, int *index)
{
    struct device_info device = {0};
    fields_read(query, device_fields, &device);
    fields_read(query, session_fields, &device);
    if (query->rc != SQLITE_OK) return -1;
    *index = history_setting_index(history, &device);
    return *index < 0 ? -1 : 0;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct launch_key *)a)->id, ((const struct launch_key *)b)->id);
}

static int read_launches(struct reader *reader)
{
    struct query query;
    int status = 0;
    query_open(&query, reader->store, purpose,
               "SELECT launch.id AS launch_id, run.id AS run_id, run.suite, run.label,"
               " run.started_at AS run_started, environment.git_commit, device.*, launch.*"
               " FROM run JOIN launch ON launch.run_id = run.id"
               " JOIN device ON device.id = launch.device_id"
               " JOIN environment ON environment.id = run.environment_id"
               " WHERE NOT run." STORE_OF_GATE " ORDER BY run.started_at, run.id, launch.number");
    while (status == 0 && query_step(&query) == 1) {
        struct launch_key key = {0};
        column_text(&query, "launch_id", key.id, sizeof key.id);
        status = add_run(reader->history, &query);
        key.run = reader->history->run_count - 1;
        if (status == 0) status = add_setting(reader->history, &query, &key.setting);
        if (status == 0)
            status = grow_keep(&reader->launches, &reader->launch_count, &key, sizeof key, what);
    }
    if (query_close(&query) != 0) status = -1;
    if (status == 0 && reader->launch_count > 0)
        qsort(reader->launches, (size_t)reader->launch_count, sizeof *reader->launches, by_id);
    return status;
}

/* --------------------------------------------------------------- times -- */

static int add_timing(struct reader *reader, struct query *query, struct launch_time **timings,
                      int *count)
{
    struct launch_key key = {0};
    char status[16];
    column_text(query, "launch_id", key.id, sizeof key.id);
    column_text(query, "status", status, sizeof status);
    const struct launch_key *launch =
        reader->launch_count == 0
            ? NULL
            : bsearch(&key, reader->launches, (size_t)reader->launch_count, sizeof key, by_id);
    if (!launch) return 0; /* of a gate, or without its device */
    double time_ns = column_real(query, "time_ns");
    struct launch_time time = {launch->run, launch->setting, {NAN, NAN, NAN}};
    if (status_has_time(status_parse(status)) && time_ns > 0)
        time.time_ns =
            (struct interval){time_ns, column_real(query, "lo_ns"), column_real(query, "hi_ns")};
    return grow_keep(timings, count, &time, sizeof time, what);
}

static int by_run(const void *left, const void *right)
{
    const struct launch_time *a = left, *b = right;
    return a->run != b->run ? a->run - b->run : a->setting - b->setting;
}

/* One point for each run and setting: the median over its launches. */
static int make_points(struct history_series *series, const struct launch_time *timings, int count)
{
    double *scratch = calloc((size_t)count + 1, sizeof *scratch);
    series->points = calloc((size_t)count + 1, sizeof *series->points);
    int status = scratch && series->points ? 0 : assay_error("out of memory for %s", what);
    for (int i = 0, end; status == 0 && i < count; i = end) {
        int launches = 0;
        struct interval only = {NAN, NAN, NAN};
        for (end = i; end < count && by_run(&timings[end], &timings[i]) == 0; end++) {
            if (isnan(timings[end].time_ns.mid)) continue;
            only = timings[end].time_ns;
            scratch[launches++] = only.mid;
        }
        if (launches == 0) {
            series->failed++;
            continue;
        }
        struct interval time = launches == 1 ? only : stats_over_launches(scratch, launches);
        series->points[series->point_count++] = (struct history_point){
            timings[i].run, timings[i].setting, launches, time.mid, time.lo, time.hi};
    }
    free(scratch);
    return status;
}

static int add_series(struct reader *reader, struct query *query, const struct case_id *id)
{
    struct history *history = reader->history;
    struct launch_time *timings = NULL;
    int count = 0, status = 0;
    while (status == 0 && query_step(query) == 1)
        status = add_timing(reader, query, &timings, &count);
    if (query->rc != SQLITE_OK) status = -1;
    if (status == 0 && count > 0) {
        struct history_series *series =
            grow_add(&history->series, &history->series_count, sizeof *series, what);
        if (series) series->id = *id;
        qsort(timings, (size_t)count, sizeof *timings, by_run);
        status = series ? make_points(series, timings, count) : -1;
    }
    free(timings);
    return status;
}

/* --------------------------------------------------------------- cases -- */

/* A case by any one row of it: the first row of the next larger case (a single
 * seek, which SQLite makes only where the bounds are parameters), the names of a
 * row's case, and all rows of a row's case. Whether a case is larger is asked of the row
 * again: in a damaged file the index may lead back, and the search would never end. */
static const char next_sql[] =
    "SELECT ?1, ?2, ?3, ?4, ?5, rowid AS row FROM result"
    " WHERE (operation, variant, shape, temperature, place) > (?1, ?2, ?3, ?4, ?5)"
    " ORDER BY operation, variant, shape, temperature, place LIMIT 1";
static const char name_sql[] =
    "SELECT operation, variant, shape, temperature, place, kind FROM result"
    " WHERE (operation, variant, shape, temperature, place) > (?1, ?2, ?3, ?4, ?5)"
    " AND rowid = :row";
static const char times_sql[] =
    "SELECT result.launch_id, result.status, result.time_ns, result.lo_ns, result.hi_ns"
    " FROM result AS one"
    " JOIN result INDEXED BY result_case ON result.operation = one.operation"
    " AND result.variant = one.variant AND result.shape = one.shape"
    " AND result.temperature = one.temperature AND result.place = one.place"
    " AND result.purpose = 'case' WHERE one.rowid = :row";
enum { NAMES = 5 };

/* Bind the names in the first columns of a row; those before the first case without one. */
static void bind_names(struct query *query, struct query *row)
{
    query_reset(query);
    for (int i = 0; i < NAMES && query->rc == SQLITE_OK; i++) {
        int rc = row ? sqlite3_bind_value(query->statement, i + 1,
                                          sqlite3_column_value(row->statement, i))
                     : sqlite3_bind_text(query->statement, i + 1, "", 0, SQLITE_STATIC);
        if (rc == SQLITE_OK) continue;
        query->rc = rc;
        store_failed(query->store, rc, purpose);
    }
}

static int read_cases(struct reader *reader, const char *cases)
{
    struct query next, name, times;
    int status = 0;
    query_open(&next, reader->store, purpose, next_sql);
    query_open(&name, reader->store, purpose, name_sql);
    query_open(&times, reader->store, purpose, times_sql);
    bind_names(&next, NULL);
    while (status == 0 && query_step(&next) == 1) {
        struct case_id id;
        int64_t row = column_integer(&next, "row");
        bind_names(&name, &next);
        query_integer(&name, ":row", row);
        if (query_step(&name) == 0) {
            name.rc = SQLITE_CORRUPT;
            store_failed(reader->store, name.rc, purpose);
        }
        if (name.rc != SQLITE_OK) break;
        /* Before they are read, which makes texts of them: where they are none, the text is less.
         */
        bind_names(&next, &name);
        fields_read(&name, case_fields, &id);
        id.kind = -1; /* no part of what a history is of */
        query_reset(&times);
        query_integer(&times, ":row", row);
        if (case_matches(cases, &id)) status = add_series(reader, &times, &id);
    }
    int closed = query_close(&next) | query_close(&name) | query_close(&times);
    return closed == 0 ? status : -1;
}

/* ---------------------------------------------------------------- acks -- */

static int add_ack(const struct ack *ack, void *context)
{
    struct history *history = context;
    return grow_keep(&history->acks, &history->ack_count, ack, sizeof *ack, what);
}

/* One transaction: the rows of one moment, though a run be under way. */
int history_read(struct history *history, struct store *store, const char *cases)
{
    struct reader reader = {.store = store, .history = history};
    *history = (struct history){0};
    if (store_need(store, NEED_CASES, cases ? cases : "*") != 0) return -1;
    if (store_exec(store, purpose, "BEGIN") != 0) return -1;
    int status = read_launches(&reader);
    if (status == 0) status = read_cases(&reader, cases);
    if (status == 0) status = store_each_ack(store, add_ack, history);
    free(reader.launches);
    status = store_finish(store, purpose, status);
    if (status != 0) history_release(history);
    return status;
}
