/* store_query.c - the vocabulary over SQLite: prepare, bind, step, read, report. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/text.h"
#include "store/store_internal.h"

static bool is_disk_full(sqlite3 *db, int rc)
{
    int error = sqlite3_system_errno(db);
    return (rc & 0xff) == SQLITE_FULL ||
           ((rc & 0xff) == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT));
}

static int is_over(void *until_s)
{
    return clock_s() > *(double *)until_s;
}

/* What SQLite finds first, within a second; "" where it finds nothing in that time. */
static void find_damage(sqlite3 *db, char *out, size_t size)
{
    enum { CHECKED_EVERY = 1000 /* instructions of SQLite's machine */ };
    double until_s = clock_s() + 1;
    sqlite3_stmt *check = NULL;
    out[0] = '\0';
    if (!db) return;
    sqlite3_progress_handler(db, CHECKED_EVERY, is_over, &until_s);
    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &check, NULL) == SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(check, 0);
        if (found && strcmp(found, "ok") != 0) text_printable(out, size, found, "");
    }
    sqlite3_finalize(check);
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

int store_failed(struct store *store, int rc, const char *purpose)
{
    char damage[160];
    const char *path = store->path;
    const char *text = store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc);
    int error = store->db ? sqlite3_system_errno(store->db) : 0;

    if (store->db && is_disk_full(store->db, rc))
        return assay_error("%s: cannot %s: the disk is full", store->fills ? store->fills : path,
                           purpose);
    switch (rc & 0xff) {
    case SQLITE_READONLY:
        return assay_error("%s: cannot %s: the database or its folder is read-only", path, purpose);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return assay_error("%s: cannot %s: locked by another process (waited %.3g s)", path,
                           purpose, store->timeout_ms / 1000.0);
    case SQLITE_AUTH: /* central_need.c */
        return assay_error("%s: cannot %s from a central store: fetch the runs into a file (assay "
                           "pull)",
                           path, purpose);
    case SQLITE_NOTADB:
        return assay_error("%s is not a database", path);
    case SQLITE_CORRUPT:
        find_damage(store->db, damage, sizeof damage);
        return assay_error("%s: cannot %s: the database is damaged%s%s", path, purpose,
                           damage[0] ? ": " : "", damage);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        return assay_error("%s: cannot %s: %s", path, purpose, error ? strerror(error) : text);
    default:
        return assay_error("%s: cannot %s: %s", path, purpose, text);
    }
}

static void query_note(struct query *query, int rc)
{
    if (rc == SQLITE_OK || query->rc != SQLITE_OK) return;
    query->rc = rc;
    store_failed(query->store, rc, query->purpose);
}

void query_refuse(struct query *query, const char *format, ...)
{
    char why[ASSAY_MAX_REASON];
    va_list list;
    if (query->rc != SQLITE_OK) return;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    query->rc = SQLITE_MISMATCH;
    assay_error("%s: cannot %s: %s", query->store->path, query->purpose, why);
}

void query_open(struct query *query, struct store *store, const char *purpose, const char *sql)
{
    *query = (struct query){.store = store, .purpose = purpose};
    query_note(query, sqlite3_prepare_v2(store->db, sql, -1, &query->statement, NULL));
}

void query_ask(struct query *query, struct store *store, const char *purpose, const char *sql,
               const char *key)
{
    query_open(query, store, purpose, sql);
    query_text(query, ":key", key);
}

int query_step(struct query *query)
{
    if (query->rc != SQLITE_OK) return -1;
    int rc = sqlite3_step(query->statement);
    if (rc == SQLITE_ROW) return 1;
    if (rc == SQLITE_DONE) return 0;
    query_note(query, rc);
    return -1;
}

void *query_add(struct query *query, void *list, int *count, size_t size, const char *what)
{
    if (query_step(query) != 1) return NULL;
    void *element = grow_add(list, count, size, what);
    if (!element) query->rc = SQLITE_NOMEM;
    return element;
}

void query_reset(struct query *query)
{
    if (query->rc != SQLITE_OK) return;
    query_note(query, sqlite3_reset(query->statement));
    query_note(query, sqlite3_clear_bindings(query->statement));
}

int query_insert(struct query *query)
{
    query_step(query);
    query_reset(query);
    return query->rc == SQLITE_OK ? 0 : -1;
}

int query_close(struct query *query)
{
    /* What finalize returns is the last step's code, reported already. */
    sqlite3_finalize(query->statement);
    query->statement = NULL;
    return query->rc == SQLITE_OK ? 0 : -1;
}

int query_run(struct query *query)
{
    while (query_step(query) == 1)
        continue;
    return query_close(query);
}

/* Index of a parameter, or 0 with the query failed. */
static int parameter_index(struct query *query, const char *name)
{
    if (query->rc != SQLITE_OK) return 0;
    int index = sqlite3_bind_parameter_index(query->statement, name);
    if (index == 0) query_refuse(query, "the query has no parameter %s", name);
    return index;
}

void query_text(struct query *query, const char *name, const char *text)
{
    int index = parameter_index(query, name);
    if (index)
        query_note(query, sqlite3_bind_text(query->statement, index, text, -1, SQLITE_TRANSIENT));
}

void timestamp_of(char text[TIMESTAMP_SIZE], const struct timespec *moment)
{
    struct tm utc;
    char second[24];
    gmtime_r(&moment->tv_sec, &utc);
    strftime(second, sizeof second, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, TIMESTAMP_SIZE, "%s.%03uZ", second,
             (unsigned)(moment->tv_nsec / 1000000) % 1000);
}

void timestamp_now(char text[TIMESTAMP_SIZE])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    timestamp_of(text, &now);
}

void query_now(struct query *query, const char *name)
{
    char now[TIMESTAMP_SIZE];
    timestamp_now(now);
    query_text(query, name, now);
}

void query_integer(struct query *query, const char *name, int64_t value)
{
    int index = parameter_index(query, name);
    if (index) query_note(query, sqlite3_bind_int64(query->statement, index, value));
}

/* An unbound parameter is NULL. */
void query_count(struct query *query, const char *name, int64_t value)
{
    if (value >= 0) query_integer(query, name, value);
}

void query_real(struct query *query, const char *name, double value)
{
    int index = parameter_index(query, name);
    if (index && !isnan(value))
        query_note(query, sqlite3_bind_double(query->statement, index, value));
}

void query_blob(struct query *query, const char *name, const void *bytes, size_t size)
{
    int index = parameter_index(query, name);
    if (index && bytes)
        query_note(query,
                   sqlite3_bind_blob64(query->statement, index, bytes, size, SQLITE_TRANSIENT));
}

int column_index(struct query *query, const char *name)
{
    if (query->rc != SQLITE_OK) return -1;
    int count = sqlite3_column_count(query->statement);
    for (int i = 0; i < count; i++) {
        int at = (query->last_column + 1 + i) % count;
        if (strcmp(sqlite3_column_name(query->statement, at), name) == 0)
            return query->last_column = at;
    }
    query_refuse(query, "the query has no column %s", name);
    return -1;
}

/* What a database holds may be anybody's. */
static void take_text(sqlite3_stmt *statement, int index, char *out, size_t size, const char *kept)
{
    const char *text = index < 0 ? NULL : (const char *)sqlite3_column_text(statement, index);
    text_printable(out, size, text ? text : "", kept);
}

void column_text(struct query *query, const char *name, char *out, size_t size)
{
    take_text(query->statement, column_index(query, name), out, size, "");
}

void column_lines(struct query *query, const char *name, char *out, size_t size)
{
    take_text(query->statement, column_index(query, name), out, size, "\n");
}

char *column_copy(struct query *query, const char *name)
{
    int index = column_index(query, name);
    const unsigned char *text = index < 0 ? NULL : sqlite3_column_text(query->statement, index);
    char *copy = strdup(text ? (const char *)text : "");
    if (!copy) query_refuse(query, "out of memory");
    return copy;
}

int64_t column_integer(struct query *query, const char *name)
{
    int index = column_index(query, name);
    return index < 0 ? 0 : sqlite3_column_int64(query->statement, index);
}

static bool is_null(struct query *query, int index)
{
    return index < 0 || sqlite3_column_type(query->statement, index) == SQLITE_NULL;
}

int64_t column_count(struct query *query, const char *name)
{
    int index = column_index(query, name);
    return is_null(query, index) ? -1 : sqlite3_column_int64(query->statement, index);
}

double column_real(struct query *query, const char *name)
{
    int index = column_index(query, name);
    return is_null(query, index) ? NAN : sqlite3_column_double(query->statement, index);
}

int store_exec(struct store *store, const char *purpose, const char *sql)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : store_failed(store, rc, purpose);
}

int store_integer(struct store *store, const char *purpose, const char *sql, const char *key,
                  int64_t *value)
{
    struct query query;
    key ? query_ask(&query, store, purpose, sql, key) : query_open(&query, store, purpose, sql);
    if (query_step(&query) == 1) *value = sqlite3_column_int64(query.statement, 0);
    return query_close(&query);
}

int store_text(struct store *store, const char *purpose, const char *sql, const char *key,
               char *out, size_t size)
{
    struct query query;
    key ? query_ask(&query, store, purpose, sql, key) : query_open(&query, store, purpose, sql);
    int found = query_step(&query);
    if (found == 1) take_text(query.statement, 0, out, size, "");
    return query_close(&query) == 0 ? found : -1;
}

/* IMMEDIATE takes the writer's lock now, where the busy timeout still helps. */
int store_begin(struct store *store, const char *purpose)
{
    return store_exec(store, purpose, "BEGIN IMMEDIATE");
}

/* Rows that go into a file which no name leads to any more are lost with it. */
int store_check_place(struct store *store)
{
    int moved = 0;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved ? assay_error("%s: the database was deleted or replaced meanwhile", store->path)
                 : 0;
}

int store_finish(struct store *store, const char *purpose, int status)
{
    if (status == 0) status = store_check_place(store);
    if (status == 0) status = store_exec(store, purpose, "COMMIT");
    /* SQLite may have rolled back by itself (a full disk); otherwise it is up to us. */
    if (status != 0 && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
