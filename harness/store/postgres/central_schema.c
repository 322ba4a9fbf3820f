/*
 * central_schema.c - the schema for PostgreSQL, written from what store_schema.c makes in an empty
 * SQLite database: the same tables, columns, keys, references and indexes. Every statement also
 * suits a store of an older version, since a version only adds. Its CHECKs stay behind: rows come
 * from a database that has them, and go into one.
 *
 * Texts compare by their bytes (COLLATE "C"), as in SQLite.
 */
#include <stdlib.h>

#include "store/postgres/central.h"

/* What a central store has beside: its version; the state in which each run was pushed last
 * (central_push.c), so that what is there is not sent again; and the counts that `assay list`
 * shows, which would otherwise be taken from every result there is. */
static const char own_tables[] = "CREATE TABLE IF NOT EXISTS schema_version (\n"
                                 "    one boolean PRIMARY KEY DEFAULT true CHECK (one),\n"
                                 "    version integer NOT NULL\n"
                                 ");\n"
                                 "CREATE TABLE IF NOT EXISTS pushed (\n"
                                 "    run_id text COLLATE \"C\" PRIMARY KEY REFERENCES run (id),\n"
                                 "    state text COLLATE \"C\" NOT NULL,\n"
                                 "    pushed_at timestamptz NOT NULL DEFAULT now()\n"
                                 ");\n"
                                 "CREATE TABLE IF NOT EXISTS counted (\n"
                                 "    run_id text COLLATE \"C\" NOT NULL REFERENCES run (id),\n"
                                 "    is_ceiling bigint NOT NULL,\n"
                                 "    cases bigint NOT NULL,\n"
                                 "    ok bigint NOT NULL,\n"
                                 "    wrong bigint NOT NULL,\n"
                                 "    PRIMARY KEY (run_id, is_ceiling)\n"
                                 ");\n";

static const char *type_of(const char *type)
{
    return *type == 'T'   ? "text COLLATE \"C\""
           : *type == 'I' ? "bigint"
           : *type == 'R' ? "double precision"
                          : "bytea";
}

/* The names that `sql` gives for `key`, with commas between. */
static void write_names(FILE *out, struct store *store, const char *sql, const char *key)
{
    struct query query;
    const char *between = "";
    query_ask(&query, store, "read the schema", sql, key);
    while (query_step(&query) == 1) {
        char name[64];
        column_text(&query, "name", name, sizeof name);
        fprintf(out, "%s\"%s\"", between, name);
        between = ", ";
    }
    query_close(&query);
}

/* As a line of CREATE TABLE, or as what a store of an older version gets; keys it has. */
static void write_column(FILE *out, struct query *column, const char *table, bool is_later)
{
    char name[64], type[16], fallback[64];
    column_text(column, "name", name, sizeof name);
    column_text(column, "type", type, sizeof type);
    column_text(column, "dflt_value", fallback, sizeof fallback);
    if (is_later)
        fprintf(out, "ALTER TABLE %s ADD COLUMN IF NOT EXISTS", table);
    else
        fputs("   ", out);
    fprintf(out, " \"%s\" %s%s%s%s", name, type_of(type),
            column_integer(column, "notnull") ? " NOT NULL" : "", *fallback ? " DEFAULT " : "",
            fallback);
    fputs(is_later ? ";\n" : ",\n", out);
}

static int write_columns(FILE *out, struct store *store, const char *table, bool is_later)
{
    struct query columns;
    query_ask(&columns, store, "read the schema",
              "SELECT * FROM pragma_table_info(:key) ORDER BY cid", table);
    while (query_step(&columns) == 1)
        if (!is_later || column_integer(&columns, "pk") == 0)
            write_column(out, &columns, table, is_later);
    return query_close(&columns);
}

static int write_references(FILE *out, struct store *store, const char *table)
{
    struct query keys;
    query_ask(&keys, store, "read the schema",
              "SELECT \"table\" AS other, \"from\" AS own, \"to\" AS theirs"
              " FROM pragma_foreign_key_list(:key) ORDER BY id",
              table);
    while (query_step(&keys) == 1) {
        char other[64], own[64], theirs[64];
        column_text(&keys, "other", other, sizeof other);
        column_text(&keys, "own", own, sizeof own);
        column_text(&keys, "theirs", theirs, sizeof theirs);
        fprintf(out, "    FOREIGN KEY (\"%s\") REFERENCES %s (\"%s\"),\n", own, other, theirs);
    }
    return query_close(&keys);
}

static int write_indexes(FILE *out, struct store *store, const char *table)
{
    struct query indexes;
    query_ask(&indexes, store, "read the schema",
              "SELECT name, \"unique\" AS is_unique,"
              " replace(name, 'sqlite_autoindex_', 'unique_') AS known"
              " FROM pragma_index_list(:key) WHERE origin != 'pk' ORDER BY name",
              table);
    while (query_step(&indexes) == 1) {
        char name[64], known[64];
        column_text(&indexes, "name", name, sizeof name);
        column_text(&indexes, "known", known, sizeof known);
        fprintf(out, "CREATE %sINDEX IF NOT EXISTS %s ON %s (",
                column_integer(&indexes, "is_unique") ? "UNIQUE " : "", known, table);
        write_names(out, store, "SELECT name FROM pragma_index_info(:key) ORDER BY seqno", name);
        fputs(");\n", out);
    }
    return query_close(&indexes);
}

static int write_table(FILE *out, struct store *store, const char *table)
{
    fprintf(out, "CREATE TABLE IF NOT EXISTS %s (\n", table);
    int status = write_columns(out, store, table, false);
    if (status == 0) status = write_references(out, store, table);
    fputs("    PRIMARY KEY (", out);
    write_names(out, store, "SELECT name FROM pragma_table_info(:key) WHERE pk > 0 ORDER BY pk",
                table);
    fputs(")\n);\n", out);
    if (status == 0) status = write_columns(out, store, table, true);
    return status == 0 ? write_indexes(out, store, table) : -1;
}

static int write_views(FILE *out, struct store *store)
{
    struct query query;
    query_open(&query, store, "read the schema",
               "SELECT replace(sql, 'CREATE VIEW', 'CREATE OR REPLACE VIEW') AS sql"
               " FROM sqlite_schema WHERE type = 'view' ORDER BY rowid");
    while (query_step(&query) == 1) {
        char *sql = column_copy(&query, "sql");
        if (sql) fprintf(out, "%s;\n", sql);
        free(sql);
    }
    return query_close(&query);
}

int central_write_schema(FILE *out)
{
    struct store *store;
    if (store_open_memory(&store) != 0) return -1;
    fprintf(
        out,
        "-- A central store of assay, schema %d: for its owner, once, and again for each newer\n"
        "-- version (docs/fleet.md).\n"
        "BEGIN;\n"
        "SET LOCAL client_min_messages = warning;\n"
        "CREATE SCHEMA IF NOT EXISTS assay;\n"
        "SET LOCAL search_path = assay;\n",
        store_version);
    int status = 0;
    for (const struct exchange *table = exchange_tables; status == 0 && table->table; table++)
        status = write_table(out, store, table->table);
    fputs(own_tables, out);
    if (status == 0) status = write_views(out, store);
    fprintf(out,
            "INSERT INTO schema_version (version) VALUES (%d)\n"
            "    ON CONFLICT (one) DO UPDATE SET version = excluded.version;\n"
            "COMMIT;\n",
            store_version);
    store_close(store);
    if (status == 0 && (fflush(out) != 0 || ferror(out)))
        status = assay_error("the schema cannot be written");
    return status;
}
