/*
 * store_export.c - a run as NDJSON: a header line, then a line for each row of
 * each table, made by SQLite's json_object from the columns the schema has.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/store_internal.h"

static int write_failed(void)
{
    return assay_error("cannot write the export: %s", strerror(errno));
}

/* "json_object('assay_ndjson', 1, 'table', 'run', 'id', run.id, ...)". SQLite
 * allows 127 arguments, which the widest table (result) keeps within. */
static char *row_sql(struct store *store, const struct exchange *table)
{
    struct table_columns columns;
    if (table_columns_read(&columns, store, table->table) != 0) return NULL;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT json_object('assay_ndjson', %d, 'table', %Q", EXCHANGE_FORMAT,
                        table->table);
    for (int i = 0; i < columns.count; i++) {
        const char *name = columns.column[i].name;
        const char type = columns.column[i].type;
        const char *format = type == 'R'   ? ", %Q, json(json_real(%s.\"%w\"))"
                             : type == 'B' ? ", %Q, json(json_samples(%s.\"%w\", %Q))"
                                           : ", %Q, %s.\"%w\"";
        sqlite3_str_appendf(sql, format, name, table->table, name, name);
    }
    sqlite3_str_appendf(sql, ") AS line FROM %s %s", table->table, table->rows);
    char *text = sqlite3_str_finish(sql);
    if (!text) assay_error("%s: cannot export: out of memory", store->path);
    return text;
}

static int export_table(struct store *store, const struct exchange *table, const char *run_id,
                        FILE *out)
{
    struct query query;
    char *sql = row_sql(store, table);
    int status = 0;
    if (!sql) return -1;
    query_open(&query, store, "export a run", sql);
    sqlite3_free(sql);
    query_text(&query, ":run", run_id);
    while (status == 0 && query_step(&query) == 1) {
        const char *line = (const char *)sqlite3_column_text(query.statement, 0);
        if (!line)
            status = assay_error("%s: cannot export: out of memory", store->path);
        else if (fprintf(out, "%s\n", line) < 0)
            status = write_failed();
    }
    return query_close(&query) == 0 ? status : -1;
}

static int export_header(struct store *store, const char *run_id, FILE *out)
{
    int64_t runs = 0;
    if (store_integer(store, "look for a run", "SELECT count(*) FROM run WHERE id = :key", run_id,
                      &runs) != 0)
        return -1;
    if (runs == 0) return assay_error("%s: there is no run %s", store->path, run_id);
    if (fprintf(out, "{\"assay_ndjson\":%d,\"table\":\"header\",\"schema\":%d}\n", EXCHANGE_FORMAT,
                store_version) < 0)
        return write_failed();
    return 0;
}

/* One transaction: the rows of one moment, though the run be under way. */
int store_export_ndjson(struct store *store, const char *run_id, FILE *out)
{
    if (store_need(store, NEED_RUN, run_id) != 0) return -1;
    if (store_exec(store, "export a run", "BEGIN") != 0) return -1;
    int status = export_header(store, run_id, out);
    for (const struct exchange *table = exchange_tables; status == 0 && *table->rows; table++)
        status = export_table(store, table, run_id, out);
    if (status == 0 && fflush(out) != 0) status = write_failed();
    return store_finish(store, "export a run", status);
}
