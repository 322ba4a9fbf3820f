/*
 * central.h - a connection to the central store, and rows on their way to and from it. Every
 * function returns 0, or -1 after assay_error, which names the server and the reason in one line.
 */
#pragma once

#include "store/store_central.h"
#include "store/store_internal.h"

struct pg_conn;
struct pg_result;

struct central {
    struct pg_conn *connection;
    char shown[STORE_SHOWN];
    /* Where a URL was opened as a store: the tables from which rows were fetched, as " run launch
     * ", and whether rows are being fetched now. */
    char fetched[512];
    bool is_fetching;
};

/* Connect, and hold the schema there to be of this version. */
int central_open(struct central **central, const char *url);
void central_close(struct central *central);

/* What a result that is not as wanted says; takes the result. */
int central_failed(struct central *central, struct pg_result *result, const char *purpose);
/* SQL; the result is as `status` (pq.h) has it, or NULL. The caller clears it. */
struct pg_result *central_ask(struct central *central, const char *purpose, const char *sql,
                              int status);
/* SQL without rows; *changes, unless NULL, is how many it changed. */
int central_exec(struct central *central, const char *purpose, const char *sql, int64_t *changes);
/* The number in the first row. */
int central_integer(struct central *central, const char *purpose, const char *sql, int64_t *value);

/* ---------------------------------------------------------------- rows -- */

/* "\"id\", \"name\""; sqlite3_free it. NULL with assay_error. */
char *copy_columns(const struct table_columns *table);

/* Rows of the server into the table of `store`: `select` gives the columns in order. `conflict`
 * ends the INSERT. */
int copy_fetch(struct central *central, struct store *store, const struct table_columns *table,
               const char *select, const char *conflict);

/* Rows into the server's table `target`: begin, then any number of queries whose columns are those
 * of the table (closed here), then end, also after a failure. */
struct copy_out {
    struct central *central;
    const struct table_columns *table;
    unsigned char *bytes;
    size_t used, size;
};
int copy_send_begin(struct copy_out *out, struct central *central,
                    const struct table_columns *table, const char *target);
int copy_send_rows(struct copy_out *out, struct query *query);
int copy_send_end(struct copy_out *out, int status);

/* The state of a run, the same on two sides that have the same run; "": it is not there. */
enum { CENTRAL_STATE = 96 };
int central_state(struct store *store, const char *run_id, char state[CENTRAL_STATE]);

/* "SELECT COLUMNS FROM TABLE ROWS" for the server: in `rows` the key stands for :run, and the
 * column `empty`, unless NULL, is ''. sqlite3_free it; NULL with assay_error. */
char *copy_select(struct central *central, const struct table_columns *table, const char *empty,
                  const char *rows, const char *key);
