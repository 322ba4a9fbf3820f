/*
 * central_copy.c - rows between SQLite and PostgreSQL, in the binary format of COPY (PostgreSQL,
 * COPY, "Binary Format"): a header of 11 bytes and two words of 32 bits; per row the number of
 * fields (16 bits) and per field its length (32 bits, -1 for NULL) and its bytes; at the end -1 in
 * the place of a number of fields. Numbers are big-endian. So no figure is ever a text on its way.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres/central.h"
#include "store/postgres/pq.h"

static const char signature[] = "PGCOPY\n\377\r\n"; /* its 0 too */
enum { CHUNK_BYTES = 1 << 18 };

/* ----------------------------------------------------------------- columns -- */

char *copy_columns(const struct table_columns *table)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < table->count; i++)
        sqlite3_str_appendf(text, "%s\"%w\"", i > 0 ? ", " : "", table->column[i].name);
    char *columns = sqlite3_str_finish(text);
    if (!columns) assay_error("out of memory for the columns of %s", table->name);
    return columns;
}

/* The key, as a literal, wherever :run stands. */
static void append_rows(sqlite3_str *sql, const char *rows, const char *literal)
{
    static const char mark[] = ":run";
    for (const char *at; (at = strstr(rows, mark)); rows = at + sizeof mark - 1)
        sqlite3_str_appendf(sql, "%.*s%s", (int)(at - rows), rows, literal);
    sqlite3_str_appendall(sql, rows);
}

char *copy_select(struct central *central, const struct table_columns *table, const char *empty,
                  const char *rows, const char *key)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    char *literal = pq.literal(central->connection, key, strlen(key));
    for (int i = 0; i < table->count; i++) {
        const char *name = table->column[i].name;
        sqlite3_str_appendall(sql, i > 0 ? ", " : "SELECT ");
        if (empty && strcmp(empty, name) == 0)
            sqlite3_str_appendall(sql, "''");
        else
            sqlite3_str_appendf(sql, "%s.\"%w\"", table->name, name);
    }
    sqlite3_str_appendf(sql, " FROM %s ", table->name);
    append_rows(sql, rows, literal ? literal : "NULL");
    char *text = sqlite3_str_finish(sql);
    if (!text) assay_error("%s: cannot read %s: out of memory", central->shown, table->name);
    if (!literal) central_failed(central, NULL, "read");
    pq.free(literal);
    if (literal) return text;
    sqlite3_free(text);
    return NULL;
}

/* ---------------------------------------------------------------- fetching -- */

struct reader {
    const unsigned char *at, *end;
};

static bool take(struct reader *reader, void *out, size_t size)
{
    if ((size_t)(reader->end - reader->at) < size) return false;
    memcpy(out, reader->at, size);
    reader->at += size;
    return true;
}

static bool take_header(struct reader *reader)
{
    char begin[sizeof signature];
    uint32_t word[2];
    if (!take(reader, begin, sizeof begin) || memcmp(begin, signature, sizeof begin) != 0 ||
        !take(reader, word, sizeof word) || be32toh(word[1]) > reader->end - reader->at)
        return false;
    reader->at += be32toh(word[1]);
    return true;
}

static int bind_number(sqlite3_stmt *insert, int parameter, char type, uint64_t bits)
{
    double real;
    if (type == 'I') return sqlite3_bind_int64(insert, parameter, (int64_t)bits);
    memcpy(&real, &bits, sizeof real);
    return sqlite3_bind_double(insert, parameter, real);
}

/* One field as the parameter; false where it is not what the format says. */
static bool bind_field(struct reader *reader, sqlite3_stmt *insert, int parameter, char type)
{
    uint32_t word;
    uint64_t bits;
    if (!take(reader, &word, sizeof word)) return false;
    int32_t length = (int32_t)be32toh(word);
    if (length == -1) return sqlite3_bind_null(insert, parameter) == SQLITE_OK;
    if (length < 0 || length > reader->end - reader->at) return false;
    const void *bytes = reader->at;
    reader->at += length;
    if (type == 'T')
        return sqlite3_bind_text(insert, parameter, bytes, length, SQLITE_STATIC) == SQLITE_OK;
    if (type == 'B')
        return sqlite3_bind_blob(insert, parameter, bytes, length, SQLITE_STATIC) == SQLITE_OK;
    if (length != sizeof bits) return false;
    memcpy(&bits, bytes, sizeof bits);
    return bind_number(insert, parameter, type, be64toh(bits)) == SQLITE_OK;
}

/* The row of a message, which may have none. 0 or -1. */
static int take_row(struct reader *reader, struct query *insert, const struct table_columns *table)
{
    uint16_t word;
    if (reader->at == reader->end) return 0;
    if (!take(reader, &word, sizeof word)) return -1;
    int fields = (int16_t)be16toh(word);
    if (fields == -1) return 0;
    if (fields != table->count) return -1;
    for (int i = 0; i < fields; i++)
        if (!bind_field(reader, insert->statement, i + 1, table->column[i].type)) return -1;
    return query_insert(insert);
}

/* The end of a COPY in either direction, after which the connection can be used again. */
static int copy_end(struct central *central, const char *purpose, int status)
{
    struct pg_result *result = pq.next(central->connection);
    if (status == 0 && pq.result_status(result) != PQ_COMMAND_DONE)
        status = central_failed(central, result, purpose);
    else
        pq.clear(result);
    while ((result = pq.next(central->connection)))
        pq.clear(result);
    return status;
}

static int take_rows(struct central *central, struct query *insert,
                     const struct table_columns *table)
{
    char *message;
    bool is_first = true;
    int status = 0, length;
    /* To the end also after a failure. */
    while ((length = pq.copy_get(central->connection, &message, 0)) > 0) {
        struct reader reader = {(unsigned char *)message, (unsigned char *)message + length};
        bool fits = !is_first || take_header(&reader);
        is_first = false;
        if (status == 0 && (!fits || take_row(&reader, insert, table) != 0))
            status = insert->rc != SQLITE_OK
                         ? -1
                         : assay_error("%s: cannot read %s: not the rows that were asked for",
                                       central->shown, table->name);
        pq.free(message);
    }
    return copy_end(central, "read", status);
}

int copy_fetch(struct central *central, struct store *store, const struct table_columns *table,
               const char *select, const char *conflict)
{
    struct query insert;
    char purpose[64];
    char *sql = sqlite3_mprintf("COPY (%s) TO STDOUT (FORMAT binary)", select);
    if (!sql) return assay_error("%s: cannot read %s: out of memory", central->shown, table->name);
    snprintf(purpose, sizeof purpose, "read %s", table->name);
    struct pg_result *result = central_ask(central, purpose, sql, PQ_COPY_OUT);
    sqlite3_free(sql);
    if (!result) return -1;
    pq.clear(result);
    insert_open(&insert, store, "take rows of a central store", table, conflict);
    int status = take_rows(central, &insert, table);
    return query_close(&insert) == 0 ? status : -1;
}

/* ----------------------------------------------------------------- sending -- */

static int flush(struct copy_out *out)
{
    if (out->used > 0 &&
        pq.copy_put(out->central->connection, (const char *)out->bytes, (int)out->used) != 1)
        return central_failed(out->central, NULL, "push");
    out->used = 0;
    return 0;
}

static int put(struct copy_out *out, const void *bytes, size_t size)
{
    if (out->used + size > out->size) {
        unsigned char *grown = realloc(out->bytes, out->used + size + CHUNK_BYTES);
        if (!grown) return assay_error("out of memory for the rows of %s", out->table->name);
        out->bytes = grown;
        out->size = out->used + size + CHUNK_BYTES;
    }
    if (size > 0) memcpy(out->bytes + out->used, bytes, size);
    out->used += size;
    return 0;
}

static int put_field(struct copy_out *out, sqlite3_stmt *row, int column, char type)
{
    uint32_t length;
    uint64_t bits;
    const void *bytes = &bits;
    int size = sizeof bits;
    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        length = htobe32(UINT32_MAX);
        return put(out, &length, sizeof length);
    }
    if (type == 'I') {
        bits = htobe64((uint64_t)sqlite3_column_int64(row, column));
    } else if (type == 'R') {
        double real = sqlite3_column_double(row, column);
        memcpy(&bits, &real, sizeof bits);
        bits = htobe64(bits);
    } else {
        bytes = type == 'T' ? (const void *)sqlite3_column_text(row, column)
                            : sqlite3_column_blob(row, column);
        size = sqlite3_column_bytes(row, column);
    }
    length = htobe32((uint32_t)size);
    return put(out, &length, sizeof length) == 0 ? put(out, bytes, (size_t)size) : -1;
}

int copy_send_begin(struct copy_out *out, struct central *central,
                    const struct table_columns *table, const char *target)
{
    static const char zeros[8];
    char purpose[64];
    *out = (struct copy_out){.central = central, .table = table};
    char *columns = copy_columns(table);
    char *sql = sqlite3_mprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", target, columns);
    snprintf(purpose, sizeof purpose, "push %s", table->name);
    struct pg_result *result = sql ? central_ask(central, purpose, sql, PQ_COPY_IN) : NULL;
    sqlite3_free(columns);
    sqlite3_free(sql);
    if (!result) return -1;
    pq.clear(result);
    if (put(out, signature, sizeof signature) == 0 && put(out, zeros, sizeof zeros) == 0) return 0;
    return copy_send_end(out, -1);
}

int copy_send_rows(struct copy_out *out, struct query *query)
{
    const uint16_t fields = htobe16((uint16_t)out->table->count);
    int status = 0;
    while (status == 0 && query_step(query) == 1) {
        status = put(out, &fields, sizeof fields);
        for (int i = 0; status == 0 && i < out->table->count; i++)
            status = put_field(out, query->statement, i, out->table->column[i].type);
        if (status == 0 && out->used > CHUNK_BYTES) status = flush(out);
    }
    return query_close(query) == 0 ? status : -1;
}

int copy_send_end(struct copy_out *out, int status)
{
    const uint16_t end = UINT16_MAX;
    char purpose[64];
    snprintf(purpose, sizeof purpose, "push %s", out->table->name);
    if (status == 0) status = put(out, &end, sizeof end);
    if (status == 0) status = flush(out);
    pq.copy_end(out->central->connection, status == 0 ? NULL : "the rows cannot be read");
    status = copy_end(out->central, purpose, status);
    free(out->bytes);
    out->bytes = NULL;
    return status;
}
