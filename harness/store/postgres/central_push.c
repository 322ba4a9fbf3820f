/*
 * central_push.c - runs of an SQLite database to the server. Rows go by COPY into temporary tables
 * and from there by the rules of a merge, for some runs at a time in one transaction: so a push
 * that was cut off left whole runs, and a row that is there already stays as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "store/postgres/central.h"
#include "store/postgres/pq.h"

/* A transaction ends after the run with which it has as many cases. */
enum { CASES_AT_ONCE = 10000 };

enum { TABLES_MOST = 32 };

struct id_list {
    char (*id)[STORE_ID];
    int count;
};

struct pusher {
    struct store *store;
    struct central *central;
    struct central_outcome *outcome;
    struct table_columns table[TABLES_MOST]; /* as exchange_tables has them */
    struct id_list batch;
    int64_t batch_cases;
};

static int id_list_add(struct id_list *list, const char *id)
{
    char(*added)[STORE_ID] = grow_add(&list->id, &list->count, sizeof *added, "the runs to push");
    if (!added) return -1;
    snprintf(*added, STORE_ID, "%s", id);
    return 0;
}

/* A state of a run: two databases that have it in the same one need not be compared further. The
 * times are summed as whole numbers, so that their order makes no difference. */
#define STATE                                                                                      \
    "printf('%s %s %d %s %d', run.status, coalesce(run.ended_at, '-'),"                            \
    " (SELECT count(*) FROM launch WHERE run_id = run.id AND ended_at IS NOT NULL),"               \
    " (SELECT printf('%d %.0f', count(*), total(CAST(time_ns * 1000 AS INTEGER)))"                 \
    "  FROM launch JOIN result ON launch_id = launch.id WHERE run_id = run.id),"                   \
    " (SELECT count(*) FROM launch JOIN result ON launch_id = launch.id"                           \
    "  JOIN profile ON profile.result_id = result.id WHERE run_id = run.id))"

int central_state(struct store *store, const char *run_id, char state[CENTRAL_STATE])
{
    state[0] = '\0';
    return store_text(store, "read the state of a run", "SELECT " STATE " FROM run WHERE id = :key",
                      run_id, state, CENTRAL_STATE) < 0
               ? -1
               : 0;
}

/* ------------------------------------------------------------------ tables -- */

static int stage(struct pusher *pusher, const struct exchange *exchange,
                 struct table_columns *table)
{
    char sql[256];
    if (table_columns_read(table, pusher->store, exchange->table) != 0) return -1;
    snprintf(sql, sizeof sql,
             "CREATE TEMPORARY TABLE staged_%s (LIKE assay.%s) ON COMMIT DELETE ROWS", table->name,
             table->name);
    return central_exec(pusher->central, "push", sql, NULL);
}

static int stage_all(struct pusher *pusher)
{
    for (int i = 0; exchange_tables[i].table; i++)
        if (stage(pusher, &exchange_tables[i], &pusher->table[i]) != 0) return -1;
    return 0;
}

/* The rows of all runs of the batch; those of a table that belongs to no run once. */
static int send_rows(struct pusher *pusher, const struct exchange *exchange,
                     const struct table_columns *table)
{
    struct copy_out out;
    char target[64], sql[512];
    snprintf(target, sizeof target, "pg_temp.staged_%s", table->name);
    snprintf(sql, sizeof sql, "SELECT %s.* FROM %s %s", table->name, table->name, exchange->rows);
    int status = 0, times = *exchange->rows ? pusher->batch.count : 1;
    if (copy_send_begin(&out, pusher->central, table, target) != 0) return -1;
    for (int i = 0; status == 0 && i < times; i++) {
        struct query query;
        query_open(&query, pusher->store, "push", sql);
        if (*exchange->rows) query_text(&query, ":run", pusher->batch.id[i]);
        status = copy_send_rows(&out, &query);
    }
    return copy_send_end(&out, status);
}

static int note_conflicts(struct pusher *pusher, const struct exchange *exchange)
{
    char theirs[64], ours[64];
    int64_t count = 0;
    snprintf(theirs, sizeof theirs, "pg_temp.staged_%s", exchange->table);
    snprintf(ours, sizeof ours, "assay.%s", exchange->table);
    char *sql = merge_conflict_sql(pusher->store, exchange, theirs, ours, "IS DISTINCT FROM");
    if (!sql) return -1;
    int status = central_integer(pusher->central, "look for conflicts", sql, &count);
    sqlite3_free(sql);
    merge_note_conflicts(&pusher->outcome->rows, exchange->table, count);
    return status;
}

/* In the order of their keys, so that two pushes at a time wait for each other and never in a ring.
 */
static int settle(struct pusher *pusher, const struct exchange *exchange,
                  const struct table_columns *table)
{
    char purpose[64];
    int64_t changes = 0;
    char *columns = copy_columns(table);
    char *sql =
        columns ? sqlite3_mprintf("INSERT INTO %s (%s) SELECT %s FROM pg_temp.staged_%s"
                                  " ORDER BY 1 %s",
                                  table->name, columns, columns, table->name, exchange->conflict)
                : NULL;
    snprintf(purpose, sizeof purpose, "push %s", table->name);
    int status = sql ? central_exec(pusher->central, purpose, sql, &changes) : -1;
    sqlite3_free(columns);
    sqlite3_free(sql);
    pusher->outcome->rows.added += changes;
    return status;
}

static int push_tables(struct pusher *pusher, bool of_runs)
{
    for (int i = 0; exchange_tables[i].table; i++) {
        const struct exchange *exchange = &exchange_tables[i];
        const struct table_columns *table = &pusher->table[i];
        if (of_runs == !*exchange->rows) continue;
        if (send_rows(pusher, exchange, table) != 0 || note_conflicts(pusher, exchange) != 0 ||
            settle(pusher, exchange, table) != 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------- runs -- */

static const char count_sql[] =
    "INSERT INTO counted (run_id, is_ceiling, cases, ok, wrong)"
    " SELECT run_id, is_ceiling, cases, ok, wrong"
    " FROM (" STORE_COUNTED(
        "WHERE run_id IN (SELECT id FROM pg_temp.staged_run)") ") AS counts"
                                                               " ORDER BY run_id ON CONFLICT "
                                                               "(run_id, is_ceiling) DO UPDATE"
                                                               " SET cases = excluded.cases, ok = "
                                                               "excluded.ok, wrong = "
                                                               "excluded.wrong";

static int note_states(struct pusher *pusher)
{
    static const struct table_columns pushed = {"pushed", 2, {{"run_id", 'T'}, {"state", 'T'}}};
    struct copy_out out;
    int status = central_exec(pusher->central, "push",
                              "CREATE TEMPORARY TABLE IF NOT EXISTS staged_pushed"
                              " (run_id text, state text) ON COMMIT DELETE ROWS",
                              NULL);
    if (status != 0 || copy_send_begin(&out, pusher->central, &pushed, "pg_temp.staged_pushed"))
        return -1;
    for (int i = 0; status == 0 && i < pusher->batch.count; i++) {
        struct query query;
        query_ask(&query, pusher->store, "push", "SELECT id, " STATE " FROM run WHERE id = :key",
                  pusher->batch.id[i]);
        status = copy_send_rows(&out, &query);
    }
    if (copy_send_end(&out, status) != 0) return -1;
    return central_exec(pusher->central, "push",
                        "INSERT INTO pushed (run_id, state) SELECT * FROM pg_temp.staged_pushed"
                        " ORDER BY 1 ON CONFLICT (run_id) DO UPDATE"
                        " SET state = excluded.state, pushed_at = now()",
                        NULL);
}

/* Reads one moment of the file: a run may be measured meanwhile. */
static int in_transaction(struct pusher *pusher, int (*work)(struct pusher *pusher))
{
    static const char purpose[] = "push";
    const struct central_outcome before = *pusher->outcome;
    if (store_exec(pusher->store, purpose, "BEGIN") != 0) return -1;
    int status = central_exec(pusher->central, purpose, "BEGIN", NULL);
    if (status == 0) status = work(pusher);
    if (status == 0) status = central_exec(pusher->central, purpose, "COMMIT", NULL);
    if (status != 0) *pusher->outcome = before;
    return store_finish(pusher->store, purpose, status);
}

/* Where rows differ nothing is noted, so that the next push sends these runs and says so again. */
static int push_runs(struct pusher *pusher)
{
    const int64_t conflicts = pusher->outcome->rows.conflicts;
    if (push_tables(pusher, true) != 0) return -1;
    if (central_exec(pusher->central, "count the cases", count_sql, NULL) != 0) return -1;
    return pusher->outcome->rows.conflicts > conflicts ? 0 : note_states(pusher);
}

static int push_others(struct pusher *pusher)
{
    return push_tables(pusher, false);
}

static int push_batch(struct pusher *pusher)
{
    if (pusher->batch.count == 0) return 0;
    if (in_transaction(pusher, push_runs) != 0) return -1;
    pusher->outcome->moved += pusher->batch.count;
    pusher->batch.count = 0;
    pusher->batch_cases = 0;
    return 0;
}

static int add_run(struct pusher *pusher, const char *id)
{
    static const char cases[] =
        "SELECT count(*) FROM launch JOIN result ON launch_id = launch.id WHERE run_id = :key";
    int64_t count = 0;
    if (store_integer(pusher->store, "count the cases", cases, id, &count) != 0 ||
        id_list_add(&pusher->batch, id) != 0)
        return -1;
    pusher->batch_cases += count;
    return pusher->batch_cases >= CASES_AT_ONCE ? push_batch(pusher) : 0;
}

/* ------------------------------------------------------------------- which -- */

static bool is_wanted(const char *id, const char (*ids)[STORE_ID], int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0) return true;
    return count == 0;
}

/* Which runs to send. Both sides come in the order of ids; there are no states there but of runs
 * that are here. */
static int find_missing(struct pusher *pusher, struct pg_result *there, const char (*ids)[STORE_ID],
                        int count, struct id_list *missing)
{
    struct query query;
    int status = 0, at = 0, rows = pq.rows(there);
    query_open(&query, pusher->store, "look for runs to push",
               "SELECT id, " STATE " AS state FROM run ORDER BY id");
    while (status == 0 && query_step(&query) == 1) {
        char id[STORE_ID], state[CENTRAL_STATE];
        column_text(&query, "id", id, sizeof id);
        column_text(&query, "state", state, sizeof state);
        if (!is_wanted(id, ids, count)) continue;
        while (at < rows && strcmp(pq.value(there, at, 0), id) < 0)
            at++;
        if (at < rows && strcmp(pq.value(there, at, 0), id) == 0 &&
            strcmp(pq.value(there, at, 1), state) == 0)
            pusher->outcome->there++;
        else
            status = id_list_add(missing, id);
    }
    return query_close(&query) == 0 ? status : -1;
}

static int push_missing(struct pusher *pusher, struct pg_result *there, const char (*ids)[STORE_ID],
                        int count)
{
    struct id_list missing = {0};
    int status = find_missing(pusher, there, ids, count, &missing);
    for (int i = 0; status == 0 && i < missing.count; i++)
        status = add_run(pusher, missing.id[i]);
    if (status == 0) status = push_batch(pusher);
    free(missing.id);
    return status;
}

/* Of all runs here. */
static struct pg_result *ask_states(struct pusher *pusher)
{
    struct pg_result *there = NULL;
    struct query query;
    query_open(&query, pusher->store, "look for runs to push",
               "SELECT json_group_array(id) AS ids FROM run");
    query_step(&query);
    char *ids = column_copy(&query, "ids");
    const char *values[] = {ids};
    if (query_close(&query) == 0) {
        there = pq.exec_params(pusher->central->connection,
                               "SELECT run_id, state FROM pushed WHERE run_id = ANY (ARRAY("
                               "SELECT json_array_elements_text($1))) ORDER BY run_id",
                               1, NULL, values, NULL, NULL, 0);
        if (pq.result_status(there) != PQ_ROWS) {
            central_failed(pusher->central, there, "look for runs");
            there = NULL;
        }
    }
    free(ids);
    return there;
}

static bool has_others(struct store *store)
{
    int64_t count = 0;
    return store_integer(store, "look for noise",
                         "SELECT EXISTS (SELECT 1 FROM noise) + EXISTS (SELECT 1 FROM gate)", NULL,
                         &count) == 0 &&
           count > 0;
}

int central_push(struct store *store, const char *url, const char (*ids)[STORE_ID], int count,
                 struct central_outcome *outcome)
{
    struct pusher *pusher = calloc(1, sizeof *pusher);
    struct pg_result *there = NULL;
    int status = -1;
    *outcome = (struct central_outcome){0};
    if (!pusher) return assay_error("out of memory for a push");
    pusher->store = store;
    pusher->outcome = outcome;
    if (central_open(&pusher->central, url) != 0 || stage_all(pusher) != 0) goto out;
    if (!(there = ask_states(pusher))) goto out;
    /* First: the runs tell whether there is anything to push, so they come last. */
    if (count == 0 && has_others(store) && in_transaction(pusher, push_others) != 0) goto out;
    status = push_missing(pusher, there, ids, count);
out:
    if (there) pq.clear(there);
    central_close(pusher->central);
    free(pusher->batch.id);
    free(pusher);
    return status;
}
