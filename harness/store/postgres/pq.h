/*
 * pq.h - the functions of libpq that are used, declared here from their documented interface
 * (PostgreSQL, libpq - C Library), which has been that of libpq.so.5 since 2006. Loaded when the
 * first connection is made, so that the program also starts where the library is missing.
 */
#pragma once

#include "base/library.h"

struct pg_conn;   /* PGconn */
struct pg_result; /* PGresult */

/* ConnStatusType, ExecStatusType, PG_DIAG_... */
enum { PQ_CONNECTED = 0 };
enum { PQ_COMMAND_DONE = 1, PQ_ROWS = 2, PQ_COPY_OUT = 3, PQ_COPY_IN = 4 };
enum { PQ_SQLSTATE = 'C', PQ_MESSAGE = 'M' };

/* What takes the notices of a connection. */
typedef void pq_notices(void *context, const char *text);

/* clang-format off */
#define EACH_PQ_CALL(f) \
    f(connect, struct pg_conn *, (const char *url), "PQconnectdb") \
    f(finish, void, (struct pg_conn *connection), "PQfinish") \
    f(status, int, (const struct pg_conn *connection), "PQstatus") \
    f(error, char *, (const struct pg_conn *connection), "PQerrorMessage") \
    f(notices, pq_notices *, (struct pg_conn *connection, pq_notices *take, void *context), "PQsetNoticeProcessor") \
    f(exec, struct pg_result *, (struct pg_conn *connection, const char *sql), "PQexec") \
    f(exec_params, struct pg_result *, (struct pg_conn *connection, const char *sql, int count, const unsigned *types, const char *const *values, const int *lengths, const int *formats, int format), "PQexecParams") \
    f(next, struct pg_result *, (struct pg_conn *connection), "PQgetResult") \
    f(result_status, int, (const struct pg_result *result), "PQresultStatus") \
    f(result_field, char *, (const struct pg_result *result, int field), "PQresultErrorField") \
    f(rows, int, (const struct pg_result *result), "PQntuples") \
    f(value, char *, (const struct pg_result *result, int row, int column), "PQgetvalue") \
    f(changes, char *, (struct pg_result *result), "PQcmdTuples") \
    f(clear, void, (struct pg_result *result), "PQclear") \
    f(copy_put, int, (struct pg_conn *connection, const char *bytes, int count), "PQputCopyData") \
    f(copy_end, int, (struct pg_conn *connection, const char *error), "PQputCopyEnd") \
    f(copy_get, int, (struct pg_conn *connection, char **bytes, int async), "PQgetCopyData") \
    f(free, void, (void *memory), "PQfreemem") \
    f(literal, char *, (struct pg_conn *connection, const char *text, size_t length), "PQescapeLiteral")
/* clang-format on */
struct pq {
    EACH_PQ_CALL(LIBRARY_MEMBER)
};
extern struct pq pq;

/* ASSAY_LIBPQ names another file. 0, or -1 with assay_error. */
int pq_load(void);
