/*
 * store_import.c - NDJSON back into the database, in one transaction: all of
 * the file or nothing of it. Nothing in the file becomes SQL: a table's name
 * is looked for in a fixed list, a column's in the schema, values are bound.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

/* In bytes, with its end. A case of the most samples that are taken has a tenth of it. */
enum { LONGEST_LINE = 32 << 20 };
enum { MAX_TABLES = 16, MAX_COLUMN_NAME = 64 };

/* A table with its INSERT, whose parameter i + 1 is column i. */
struct importer_table {
    struct table_columns columns;
    struct query insert;
};

struct importer {
    struct store *store;
    const char *name; /* of the input */
    long line;
    bool has_header;
    struct query parse; /* the members of one line */
    struct importer_table table[MAX_TABLES];
    int rows;
};

/* -------------------------------------------------------------- tables -- */

static int table_open(struct importer *importer, const struct exchange *exchange)
{
    struct importer_table *table = &importer->table[exchange - exchange_tables];
    if (table->insert.statement) return 0;
    if (table_columns_read(&table->columns, importer->store, exchange->table) != 0) return -1;
    insert_open(&table->insert, importer->store, "import a row", &table->columns,
                exchange->conflict);
    return table->insert.rc == SQLITE_OK ? 0 : -1;
}

/* Index of the table, open for rows, or -1. */
static int find_table(struct importer *importer, const char *name)
{
    for (int i = 0; *exchange_tables[i].rows; i++)
        if (strcmp(exchange_tables[i].table, name) == 0)
            return table_open(importer, &exchange_tables[i]) == 0 ? i : -1;
    return assay_error("there is no table '%.60s'", name);
}

static int find_column(const struct importer_table *table, const char *name)
{
    for (int i = 0; i < table->columns.count; i++)
        if (strcmp(table->columns.column[i].name, name) == 0) return i;
    return -1;
}

/* -------------------------------------------------------------- values -- */

static int bind_samples(sqlite3_stmt *insert, int parameter, const char *column, const char *json)
{
    void *bytes;
    size_t size;
    int element = element_of(column);
    if (element < 0 || samples_parse(json, (enum element)element, &bytes, &size) != 0) return -1;
    return sqlite3_bind_blob64(insert, parameter, bytes, size, free) == SQLITE_OK
               ? 0
               : assay_error("%s: too many samples", column);
}

/* A member of the line: column `value` of `parse` is SQLite's reading of it,
 * `json` its own text. */
static int bind_member(struct importer_table *table, int column, const char *type,
                       sqlite3_stmt *parse, int value, const char *json)
{
    const char *name = table->columns.column[column].name;
    const char kind = table->columns.column[column].type;
    sqlite3_stmt *insert = table->insert.statement;
    bool is_whole = strcmp(type, "integer") == 0, fits;
    const char *wanted;
    if (strcmp(type, "null") == 0) return 0; /* unbound is NULL */
    if (kind == 'T') {
        wanted = "text";
        fits = strcmp(type, "text") == 0;
    } else if (kind == 'I') {
        wanted = "a whole number";
        fits = is_whole && sqlite3_column_type(parse, value) == SQLITE_INTEGER;
    } else if (kind == 'R') {
        wanted = "a number";
        fits = is_whole || strcmp(type, "real") == 0;
    } else {
        wanted = "an array";
        if (strcmp(type, "array") == 0) return bind_samples(insert, column + 1, name, json);
        fits = false;
    }
    /* Not SQLite's reading of a number: older ones may be off by the last bit. */
    int rc = !fits ? SQLITE_MISMATCH
             : kind == 'R'
                 ? sqlite3_bind_double(insert, column + 1, strtod(json, NULL))
                 : sqlite3_bind_value(insert, column + 1, sqlite3_column_value(parse, value));
    if (rc == SQLITE_OK) return 0;
    return assay_error("%s must be %s or null, not %s", name, wanted, type);
}

/* ---------------------------------------------------------------- lines -- */

static int check_header(struct importer *importer, const char *line)
{
    struct query query;
    int64_t format = -1, schema = -1;
    query_ask(&query, importer->store, "read the header",
              "SELECT :key ->> '$.assay_ndjson' AS format, :key ->> '$.schema' AS schema", line);
    if (query_step(&query) == 1) {
        format = column_count(&query, "format");
        schema = column_count(&query, "schema");
    }
    if (query_close(&query) != 0) return -1;
    if (format < 1 || schema < 1) return assay_error("the header lacks its format or its schema");
    if (format > EXCHANGE_FORMAT || schema > store_version)
        return assay_error("made by a newer assay (format %lld, schema %lld; this one knows up "
                           "to %d and %d)",
                           (long long)format, (long long)schema, EXCHANGE_FORMAT, store_version);
    importer->has_header = true;
    return 0;
}

/* The name of the line's table, or "" when it is no line of an export. */
static int line_table(struct importer *importer, const char *line, char *table, size_t size)
{
    struct query query;
    char type[16] = "";
    *table = '\0';
    if (store_text(importer->store, "read a line",
                   "SELECT iif(json_valid(:key), json_type(:key), '')", line, type,
                   sizeof type) < 0)
        return -1;
    if (strcmp(type, "object") != 0) return assay_error("not a JSON object");

    query_ask(&query, importer->store, "read a line",
              "SELECT :key ->> '$.table' AS name, json_type(:key, '$.assay_ndjson') AS mark", line);
    char mark[16] = "";
    if (query_step(&query) == 1) {
        column_text(&query, "name", table, size);
        column_text(&query, "mark", mark, sizeof mark);
    }
    if (query_close(&query) != 0) return -1;
    return *table && strcmp(mark, "integer") == 0
               ? 0
               : assay_error("not a line of an assay export (assay_ndjson or table is missing)");
}

/* What a launch has in exports of schema 1: 1, flushed by writing, or 0. */
static int bind_former_flush(struct importer_table *table, struct query *parse)
{
    int column = find_column(table, "flush"), value = column_index(parse, "value");
    if (column < 0 || value < 0) return assay_error("the table has no column 'flush_by_write'");
    bool by_write = sqlite3_column_int(parse->statement, value) != 0;
    const char *word = flush_name(by_write ? FLUSH_WRITE : FLUSH_READ);
    int rc = sqlite3_bind_text(table->insert.statement, column + 1, word, -1, SQLITE_STATIC);
    return rc == SQLITE_OK ? 0 : assay_error("flush_by_write cannot be read");
}

static int import_member(struct importer_table *table, struct query *parse)
{
    char name[MAX_COLUMN_NAME + 1], type[16];
    column_text(parse, "key", name, sizeof name);
    column_text(parse, "type", type, sizeof type);
    if (strcmp(name, "assay_ndjson") == 0 || strcmp(name, "table") == 0) return 0;
    if (strcmp(name, "flush_by_write") == 0) return bind_former_flush(table, parse);
    int column = find_column(table, name);
    if (column < 0) return assay_error("the table has no column '%s'", name);

    int value = column_index(parse, "value"), json = column_index(parse, "json");
    if (value < 0 || json < 0) return -1;
    return bind_member(table, column, type, parse->statement, value,
                       (const char *)sqlite3_column_text(parse->statement, json));
}

static int import_row(struct importer *importer, const char *line, int index)
{
    struct importer_table *table = &importer->table[index];
    struct query *parse = &importer->parse;
    int status = 0, row;
    query_reset(parse);
    query_reset(&table->insert);
    query_text(parse, ":line", line);
    while (status == 0 && (row = query_step(parse)) == 1)
        status = import_member(table, parse);
    if (status != 0 || row < 0) return -1;
    if (query_step(&table->insert) != 0) return -1;
    importer->rows += sqlite3_changes(importer->store->db);
    return 0;
}

static int import_line(struct importer *importer, const char *line)
{
    char name[MAX_COLUMN_NAME];
    if (line_table(importer, line, name, sizeof name) != 0) return -1;
    if (strcmp(name, "header") == 0) return check_header(importer, line);
    if (!importer->has_header) return assay_error("the first line must be the header of an export");
    int index = find_table(importer, name);
    return index < 0 ? -1 : import_row(importer, line, index);
}

/* The next line, without its end. Returns its length; -1 at the end of the file; LONGEST_LINE for
 * one that is as long or longer. */
static int read_line(FILE *in, char line[LONGEST_LINE])
{
    int length = 0, c = 0;
    while (length < LONGEST_LINE && (c = getc_unlocked(in)) != EOF && c != '\n')
        line[length++] = (char)c;
    if (length < LONGEST_LINE) line[length] = '\0';
    return length == 0 && c == EOF ? -1 : length;
}

static int import_lines(struct importer *importer, FILE *in)
{
    char *line = malloc(LONGEST_LINE);
    int length, status = 0;
    if (!line) return assay_error("%s: cannot import: out of memory", importer->name);
    while (status == 0 && (length = read_line(in, line)) >= 0) {
        importer->line++;
        if (length == LONGEST_LINE)
            status = assay_error("the line has %d MiB or more", LONGEST_LINE >> 20);
        else if (strlen(line) != (size_t)length)
            status = assay_error("there is a NUL byte in the line");
        else if (length > 0)
            status = import_line(importer, line);
        if (status != 0)
            assay_error("%s:%ld: %s", importer->name, importer->line, assay_last_error());
    }
    free(line);
    if (status == 0 && ferror(in))
        status = assay_error("%s: cannot be read: %s", importer->name, strerror(errno));
    if (status == 0 && !importer->has_header)
        status = assay_error("%s: no header of an export: the file is empty", importer->name);
    return status;
}

int store_import_ndjson(struct store *store, const char *name, FILE *in, int *rows_added)
{
    *rows_added = 0;
    struct importer *importer = calloc(1, sizeof *importer);
    if (!importer) return assay_error("%s: cannot import: out of memory", name);
    importer->store = store;
    importer->name = name;
    query_open(&importer->parse, store, "read a line",
               "SELECT key, type, value,"
               " CASE WHEN type IN ('integer', 'real', 'array') THEN :line -> fullkey END AS json"
               " FROM json_each(:line)");
    int status = importer->parse.rc == SQLITE_OK ? store_begin(store, "import") : -1;
    if (status == 0) {
        status = import_lines(importer, in);
        /* Statements end before the transaction does. */
        for (int i = 0; i < MAX_TABLES; i++)
            query_close(&importer->table[i].insert);
        query_close(&importer->parse);
        /* What an older version exported has an older key. */
        if (status == 0) status = store_rekey(store);
        status = store_finish(store, "import", status);
    }
    if (status == 0) *rows_added = importer->rows;
    query_close(&importer->parse);
    free(importer);
    return status;
}
