/*
 * central_pull.c - runs of the server into an SQLite database: rows go into temporary tables and
 * from there by the rules of a merge, each run in one transaction.
 */
#include <string.h>

#include "store/postgres/central.h"
#include "store/postgres/pq.h"

static const char purpose[] = "pull";

struct puller {
    struct store *store, *remote;
    struct central_outcome *outcome;
};

static int stage_all(struct store *store)
{
    for (const struct exchange *exchange = exchange_tables; exchange->table; exchange++) {
        char sql[128];
        snprintf(sql, sizeof sql,
                 "CREATE TEMP TABLE staged_%s AS SELECT * FROM main.%s WHERE false",
                 exchange->table, exchange->table);
        if (store_exec(store, purpose, sql) != 0) return -1;
    }
    return 0;
}

static int pull_table(struct puller *puller, const struct exchange *exchange, const char *id)
{
    struct table_columns table, staged;
    char target[64], empty[80];
    snprintf(target, sizeof target, "temp.staged_%s", exchange->table);
    snprintf(empty, sizeof empty, "DELETE FROM %s", target);
    if (table_columns_read(&table, puller->store, exchange->table) != 0) return -1;
    char *select = copy_select(puller->remote->central, &table, NULL, exchange->rows, id);
    if (!select) return -1;
    staged = table;
    staged.name = target;
    int status = copy_fetch(puller->remote->central, puller->store, &staged, select, "");
    sqlite3_free(select);
    if (status == 0) status = merge_table(puller->store, exchange, target, &puller->outcome->rows);
    return status == 0 ? store_exec(puller->store, purpose, empty) : -1;
}

/* Those of a run; "": those of none. */
static int pull_tables(struct puller *puller, const char *id)
{
    const struct merge_outcome before = puller->outcome->rows;
    if (store_begin(puller->store, purpose) != 0) return -1;
    int status = 0;
    for (const struct exchange *table = exchange_tables; status == 0 && table->table; table++)
        if (!*table->rows == !*id) status = pull_table(puller, table, id);
    status = store_finish(puller->store, purpose, status);
    if (status != 0) puller->outcome->rows = before;
    return status;
}

/* A state that no run has: one whose state is not noted is taken. */
#define NOT_NOTED "?"

static int pull_run(struct puller *puller, const char *id, const char *state)
{
    char here[CENTRAL_STATE];
    if (central_state(puller->store, id, here) != 0) return -1;
    if (strcmp(here, state) == 0) {
        puller->outcome->there++;
        return 0;
    }
    if (pull_tables(puller, id) != 0) return -1;
    puller->outcome->moved++;
    return 0;
}

static int pull_all(struct puller *puller)
{
    struct central *central = puller->remote->central;
    struct pg_result *runs = central_ask(central, "look for runs",
                                         "SELECT id, coalesce(state, '" NOT_NOTED
                                         "') FROM run LEFT JOIN pushed ON run_id = id"
                                         " ORDER BY id",
                                         PQ_ROWS);
    if (!runs) return -1;
    int status = 0, count = pq.rows(runs);
    for (int i = 0; status == 0 && i < count; i++)
        status = pull_run(puller, pq.value(runs, i, 0), pq.value(runs, i, 1));
    pq.clear(runs);
    return status == 0 ? pull_tables(puller, "") : -1;
}

/* By its id, the run in the state in which it was pushed last. */
static int pull_id(struct puller *puller, const char *id)
{
    static const struct table_columns pushed = {"pushed", 1, {{"state", 'T'}}};
    struct central *central = puller->remote->central;
    char *sql = copy_select(central, &pushed, NULL, "WHERE run_id = :run", id);
    struct pg_result *found = sql ? central_ask(central, "look for runs", sql, PQ_ROWS) : NULL;
    sqlite3_free(sql);
    if (!found) return -1;
    int status = pull_run(puller, id, pq.rows(found) > 0 ? pq.value(found, 0, 0) : NOT_NOTED);
    pq.clear(found);
    return status;
}

int central_pull(struct store *store, struct store *remote, const char (*ids)[STORE_ID], int count,
                 struct central_outcome *outcome)
{
    struct puller puller = {.store = store, .remote = remote, .outcome = outcome};
    *outcome = (struct central_outcome){0};
    int status = stage_all(store);
    if (status == 0 && count == 0) status = pull_all(&puller);
    for (int i = 0; status == 0 && i < count; i++)
        status = pull_id(&puller, ids[i]);
    return status;
}
