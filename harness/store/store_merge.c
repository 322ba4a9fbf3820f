/* store_merge.c - all rows of another database, by their ids; or those of one run. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/store_internal.h"

static bool may_change(const struct exchange *exchange, const char *column)
{
    char change[64];
    snprintf(change, sizeof change, " %s = excluded.", column);
    return strstr(exchange->conflict, change) != NULL;
}

char *merge_conflict_sql(struct store *store, const struct exchange *exchange, const char *theirs,
                         const char *ours, const char *differ)
{
    struct query columns;
    sqlite3_str *key = sqlite3_str_new(NULL), *left = sqlite3_str_new(NULL);
    sqlite3_str *right = sqlite3_str_new(NULL), *sql = sqlite3_str_new(NULL);
    query_ask(&columns, store, "read the schema", "SELECT name, pk FROM pragma_table_info(:key)",
              exchange->table);
    while (query_step(&columns) == 1) {
        char name[64];
        column_text(&columns, "name", name, sizeof name);
        bool is_key = column_integer(&columns, "pk") > 0;
        if (!is_key && may_change(exchange, name)) continue;
        const char *between = sqlite3_str_length(left) ? ", " : "";
        if (is_key)
            sqlite3_str_appendf(key, "%stheirs.\"%w\" = ours.\"%w\"",
                                sqlite3_str_length(key) ? " AND " : "", name, name);
        sqlite3_str_appendf(left, "%stheirs.\"%w\"", between, name);
        sqlite3_str_appendf(right, "%sours.\"%w\"", between, name);
    }
    sqlite3_str_appendf(sql, "SELECT count(*) FROM %s AS theirs JOIN %s AS ours ON %s WHERE (%s) ",
                        theirs, ours, sqlite3_str_value(key), sqlite3_str_value(left));
    sqlite3_str_appendf(sql, "%s (%s)", differ, sqlite3_str_value(right));
    sqlite3_free(sqlite3_str_finish(key));
    sqlite3_free(sqlite3_str_finish(left));
    sqlite3_free(sqlite3_str_finish(right));
    char *text = sqlite3_str_finish(sql);
    if (query_close(&columns) == 0 && text) return text;
    if (!text) assay_error("%s: cannot merge: out of memory", store->path);
    sqlite3_free(text);
    return NULL;
}

void merge_note_conflicts(struct merge_outcome *outcome, const char *table, int64_t count)
{
    if (count == 0) return;
    outcome->conflicts += count;
    text_add(outcome->where, sizeof outcome->where, ", ", "%lld of %s", (long long)count, table);
}

/* Before the rows are merged, so that only those that were here are compared. */
static int count_conflicts(struct store *store, const struct exchange *exchange, const char *theirs,
                           struct merge_outcome *outcome)
{
    char ours[64];
    int64_t count = 0;
    snprintf(ours, sizeof ours, "main.%s", exchange->table);
    char *sql = merge_conflict_sql(store, exchange, theirs, ours, "IS NOT");
    if (!sql) return -1;
    int status = store_integer(store, "look for conflicts", sql, NULL, &count);
    sqlite3_free(sql);
    merge_note_conflicts(outcome, exchange->table, count);
    return status;
}

int merge_table(struct store *store, const struct exchange *exchange, const char *theirs,
                struct merge_outcome *outcome)
{
    char sql[1024];
    if (count_conflicts(store, exchange, theirs, outcome) != 0) return -1;
    /* Without WHERE the parser takes ON for a join's. */
    snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT * FROM %s WHERE true %s", exchange->table,
             theirs, exchange->conflict);
    if (store_exec(store, "merge a database", sql) != 0) return -1;
    outcome->added += sqlite3_changes(store->db);
    return 0;
}

static int merge_tables(struct store *store, struct merge_outcome *outcome)
{
    for (const struct exchange *exchange = exchange_tables; exchange->table; exchange++) {
        char theirs[64];
        snprintf(theirs, sizeof theirs, "other.%s", exchange->table);
        if (merge_table(store, exchange, theirs, outcome) != 0) return -1;
    }
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

int store_merge(struct store *store, const char *path, struct merge_outcome *outcome)
{
    static const char purpose[] = "merge a database";
    *outcome = (struct merge_outcome){0};
    if (check_other(path) != 0 || attach(store, path) != 0) return -1;
    int status = store_begin(store, purpose);
    if (status == 0) status = store_finish(store, purpose, merge_tables(store, outcome));
    /* The first failure is the one to tell. */
    if (sqlite3_exec(store->db, "DETACH other", NULL, NULL, NULL) != SQLITE_OK && status == 0)
        status = store_failed(store, SQLITE_ERROR, purpose);
    return status;
}

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
    from->fills = store->path;
    if (status == 0) status = store_begin(from, purpose);
    if (status == 0) {
        const struct exchange *table = exchange_tables;
        for (; *table->rows && status == 0; table++)
            status = take_table(from, table, run_id);
        status = store_finish(from, purpose, status);
    }
    store_close(from);
    return status;
}
