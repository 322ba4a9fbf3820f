/* store_merge.c - all rows of another database, by their ids; or those of one run. */
#include <stdio.h>
#include <string.h>

#include "store/store_internal.h"

/* What the exchange of single runs leaves out: of two gates and two blocks of
 * noise with one id the rows are the same. */
static const struct {
    const char *table, *conflict;
} merged_tables[] = {
    {"noise", "ON CONFLICT (id) DO NOTHING"},
    {"gate", "ON CONFLICT (id) DO NOTHING"},
    {"verdict", "ON CONFLICT DO NOTHING"},
};

static int merge_table(struct store *store, const char *table, const char *conflict, int *added)
{
    char sql[1024];
    /* Without WHERE the parser takes ON for a join's. */
    snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT * FROM other.%s WHERE true %s", table,
             table, conflict);
    if (store_exec(store, "merge a database", sql) != 0) return -1;
    *added += sqlite3_changes(store->db);
    return 0;
}

static int merge_tables(struct store *store, int *added)
{
    for (const struct exchange *exchange = exchange_tables; exchange->table; exchange++)
        if (merge_table(store, exchange->table, exchange->conflict, added) != 0) return -1;
    for (size_t i = 0; i < sizeof merged_tables / sizeof merged_tables[0]; i++)
        if (merge_table(store, merged_tables[i].table, merged_tables[i].conflict, added) != 0)
            return -1;
    return 0;
}

/* Whether it is a database of this schema, or of one that can be brought to it. */
static int check_other(const char *path)
{
    struct store *other;
    if (store_open(&other, path, STORE_READ) != 0) return -1;
    store_close(other);
    return 0;
}

static int attach(struct store *store, const char *path)
{
    struct query query;
    query_ask(&query, store, "open the other database", "ATTACH :key AS other", path);
    return query_run(&query);
}

int store_merge(struct store *store, const char *path, int *rows_added)
{
    static const char purpose[] = "merge a database";
    *rows_added = 0;
    if (check_other(path) != 0 || attach(store, path) != 0) return -1;
    int status = store_begin(store, purpose);
    if (status == 0) status = store_finish(store, purpose, merge_tables(store, rows_added));
    /* The first failure is the one to tell. */
    if (sqlite3_exec(store->db, "DETACH other", NULL, NULL, NULL) != SQLITE_OK && status == 0)
        status = store_failed(store, SQLITE_ERROR, purpose);
    return status;
}

/* ------------------------------------------------------------------ one run -- */

/* What runs share is known by its content, so of two with one id one is forged. */
static int check_shared(struct store *from, const struct exchange *table, const char *run_id)
{
    struct query query;
    char sql[512];
    snprintf(
        sql, sizeof sql,
        "SELECT 1 FROM (SELECT * FROM (SELECT * FROM main.%s %s) EXCEPT SELECT * FROM other.%s)",
        table->table, table->rows, table->table);
    query_open(&query, from, "take over a run", sql);
    query_text(&query, ":run", run_id);
    bool forged = query_step(&query) == 1;
    if (query_close(&query) != 0) return -1;
    return forged ? assay_error("%s: its %s is another one than that of the same id", from->path,
                                table->table)
                  : 0;
}

/* The rows of a run in `from`, into the other database. Only what runs share may be there
 * already; a row of the run itself would change what is stored of another one. */
static int take_table(struct store *from, const struct exchange *table, const char *run_id)
{
    struct query query;
    char sql[1024];
    bool shared = strcmp(table->table, "environment") == 0 || strcmp(table->table, "device") == 0;
    snprintf(sql, sizeof sql, "INSERT INTO other.%s SELECT %s.* FROM main.%s %s %s", table->table,
             table->table, table->table, table->rows, shared ? table->conflict : "");
    query_open(&query, from, "take over a run", sql);
    query_text(&query, ":run", run_id);
    if (query_run(&query) != 0) return -1;
    return shared ? check_shared(from, table, run_id) : 0;
}

int store_take_run(struct store *store, const char *path, const char *run_id)
{
    static const char purpose[] = "take over a run";
    struct store *from;
    if (store_check_place(store) != 0 || store_open(&from, path, STORE_CHANGE) != 0) return -1;
    int status = attach(from, store->path);
    if (status == 0) status = store_begin(from, purpose);
    if (status == 0) {
        const struct exchange *table = exchange_tables;
        for (; table->table && status == 0; table++)
            status = take_table(from, table, run_id);
        status = store_finish(from, purpose, status);
    }
    store_close(from);
    return status;
}
