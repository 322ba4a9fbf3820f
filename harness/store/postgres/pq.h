/*
 * pq.h - the functions of libpq that are used, declared here from their documented interface
 * (PostgreSQL, libpq - C Library), which has been that of libpq.so.5 since 2006. Loaded when the
 * first connection is made, so that the program also starts where the library is missing.
 */
#pragma once

#include <stddef.h>

struct pg_conn;   /* PGconn */
struct pg_result; /* PGresult */

/* ConnStatusType, ExecStatusType, PG_DIAG_... */
enum { PQ_CONNECTED = 0 };
enum { PQ_COMMAND_DONE = 1, PQ_ROWS = 2, PQ_COPY_OUT = 3, PQ_COPY_IN = 4 };
enum { PQ_SQLSTATE = 'C', PQ_MESSAGE = 'M' };

struct pq {
    struct pg_conn *(*connect)(const char *url);
    void (*finish)(struct pg_conn *connection);
    int (*status)(const struct pg_conn *connection);
    char *(*error)(const struct pg_conn *connection);
    void (*(*notices)(struct pg_conn *connection, void (*take)(void *context, const char *text),
                      void *context))(void *context, const char *text);
    struct pg_result *(*exec)(struct pg_conn *connection, const char *sql);
    struct pg_result *(*exec_params)(struct pg_conn *connection, const char *sql, int count,
                                     const unsigned *types, const char *const *values,
                                     const int *lengths, const int *formats, int format);
    struct pg_result *(*next)(struct pg_conn *connection);
    int (*result_status)(const struct pg_result *result);
    char *(*result_field)(const struct pg_result *result, int field);
    int (*rows)(const struct pg_result *result);
    char *(*value)(const struct pg_result *result, int row, int column);
    char *(*changes)(struct pg_result *result);
    void (*clear)(struct pg_result *result);
    int (*copy_put)(struct pg_conn *connection, const char *bytes, int count);
    int (*copy_end)(struct pg_conn *connection, const char *error);
    int (*copy_get)(struct pg_conn *connection, char **bytes, int async);
    void (*free)(void *memory);
    char *(*literal)(struct pg_conn *connection, const char *text, size_t length);
};
extern struct pq pq;

/* ASSAY_LIBPQ names another file. 0, or -1 with assay_error. */
int pq_load(void);
