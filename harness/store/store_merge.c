/* store_merge.c - all rows of another database, by their ids. */
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
    query_open(&query, store, "open the database to merge", "ATTACH :path AS other");
    query_text(&query, ":path", path);
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
