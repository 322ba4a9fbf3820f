/*
 * store_internal.h - what the parts of the store share: a small vocabulary
 * over SQLite, the tables of fields that tie structs to columns, the schema.
 *
 * A query keeps its first failure: binding and reading after one do nothing,
 * and the failure is reported once, when it happens, by store_failed. So a
 * caller binds thirty values and checks once.
 */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "base/field.h"
#include "store/store.h"
#include "store/store_id.h"

enum {
    STORE_APPLICATION = 0x41535359, /* "ASSY", in the header of the file */
    STORE_MAX_PATH = 4096,
};

struct central;

struct store {
    sqlite3 *db;
    char path[STORE_MAX_PATH];
    const char *fills; /* the path of an attached database that is written to; NULL: none */
    int timeout_ms;
    char job_run[STORE_ID];  /* a run that stands for all shares of its job; "" none */
    struct central *central; /* of a URL, whose rows come into `db` as they are needed; else NULL */
};

/* What a function is about to read. Of a file all is there, and nothing is done; of a central store
 * (postgres/) it is fetched. A function of this room that reads says so first.
 */
enum need {
    NEED_NEWEST,        /* the newest runs; the key is how many */
    NEED_NAMED,         /* runs with this label, or whose ids begin so */
    NEED_RUN,           /* all of the run with this id */
    NEED_LAUNCH,        /* the row of the launch with this id */
    NEED_SHARES,        /* runs that are shares of their suite; the key is a job's name, "" any */
    NEED_LIST,          /* every run and launch, and how many cases they have */
    NEED_FLEET,         /* every launch, and what was loaded */
    NEED_LAUNCHES,      /* plans and results of launches; the key is a JSON array of their ids */
    NEED_CASES,         /* every launch, and the cases that a pattern names */
    NEED_NOISE,         /* of this comparability key */
    NEED_NOISY_DEVICES, /* every launch, and all noise */
    NEED_PAIRS,         /* launches of gates with this comparability key */
    NEED_VERDICTS,      /* of the gate with this id */
};
int store_need(struct store *store, enum need need, const char *key);
/* NEED_RUN, of each share where the run stands for its job. */
int store_need_run(struct store *store, const char *run_id);

/* A store in memory with the schema of this version, empty. */
int store_open_memory(struct store **store);
/* A central store, for reading. */
int store_open_url(struct store **store, const char *url, enum store_mode mode);

/* ------------------------------------------------------------- queries -- */

struct query {
    struct store *store;
    sqlite3_stmt *statement;
    const char *purpose; /* completes "cannot ...": "store a case" */
    int rc;              /* of the first failure; SQLITE_OK when none */
    int last_column;     /* found last: the next one asked for is mostly its neighbour */
};

/* assay_error with one sentence that names the path and the purpose; -1. */
int store_failed(struct store *store, int rc, const char *purpose);

void query_open(struct query *query, struct store *store, const char *purpose, const char *sql);
/* The same of a text, bound to :key. */
void query_ask(struct query *query, struct store *store, const char *purpose, const char *sql,
               const char *key);
/* 1: a row, 0: no more, -1: reported. */
int query_step(struct query *query);
/* What a row holds cannot be: the query fails, with why, after "PATH: cannot PURPOSE: ". */
void query_refuse(struct query *query, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Step, into a further element of zeros at the end of an array (grow.h). NULL: there is no more
 * row, or the query failed; `what` is what memory is lacking for. */
void *query_add(struct query *query, void *list, int *count, size_t size, const char *what);
/* Ready to be bound and stepped again. */
void query_reset(struct query *query);
/* Step one of several INSERTs, and be ready for the next. 0 or -1. */
int query_insert(struct query *query);
/* 0, or -1 when anything failed since query_open. */
int query_close(struct query *query);
/* Step to the end and close. */
int query_run(struct query *query);

/* A moment in ISO 8601, UTC, to a millisecond. */
enum { TIMESTAMP_SIZE = 32 };
void timestamp_of(char text[TIMESTAMP_SIZE], const struct timespec *moment);
void timestamp_now(char text[TIMESTAMP_SIZE]);

/* Bind by name (":time_ns"). */
void query_text(struct query *query, const char *name, const char *text);
void query_now(struct query *query, const char *name); /* this moment, as timestamp_now has it */
void query_integer(struct query *query, const char *name, int64_t value);
void query_count(struct query *query, const char *name, int64_t value); /* below 0: NULL */
void query_real(struct query *query, const char *name, double value);   /* NAN: NULL */
void query_blob(struct query *query, const char *name, const void *bytes, size_t size);

/* Read by column name. NULL reads as "", -1 and NAN. Text is made printable (text.h), in one line
 * or in several. */
void column_text(struct query *query, const char *name, char *out, size_t size);
void column_lines(struct query *query, const char *name, char *out, size_t size);
/* A text of any length, by malloc. */
char *column_copy(struct query *query, const char *name);
int64_t column_integer(struct query *query, const char *name);
int64_t column_count(struct query *query, const char *name);
double column_real(struct query *query, const char *name);
/* Index of a column, or -1 with the query failed. */
int column_index(struct query *query, const char *name);

/* SQL without results. */
int store_exec(struct store *store, const char *purpose, const char *sql);
/* The one integer that `sql` gives; of the parameter :key where `key` is not NULL. */
int store_integer(struct store *store, const char *purpose, const char *sql, const char *key,
                  int64_t *value);
/* The text of the first row that `sql` gives for :key, likewise. 1: found, 0: there is no row,
 * -1: reported. */
int store_text(struct store *store, const char *purpose, const char *sql, const char *key,
               char *out, size_t size);

/* The series of a result, as its launch stored them; samples_release frees. */
int store_read_samples(struct store *store, const char *result_id, struct samples *samples);

/* A writer's transaction. store_finish commits when status is 0 and the file is where it was,
 * otherwise rolls back and leaves the error as it was; returns 0 or -1. */
int store_check_place(struct store *store); /* -1 with assay_error: its file is gone */
int store_begin(struct store *store, const char *purpose);
int store_finish(struct store *store, const char *purpose, int status);

/* -------------------------------------------------------------- fields -- */

extern const struct field program_fields[]; /* struct program_info */
extern const struct field host_fields[];    /* struct host_info */
extern const struct field object_fields[];  /* struct object_info */
extern const struct field run_fields[];     /* struct run_info, but suite_text, objects, shard */
extern const struct field shard_fields[];   /* struct shard */
extern const struct field device_fields[];  /* struct device_info: what the hardware is */
extern const struct field session_fields[]; /* struct device_info: what a launch found */
extern const struct field launch_fields[];  /* struct launch_info, but its device and states */
extern const struct field start_fields[];   /* struct device_state, columns start_... */
extern const struct field end_fields[];     /* struct device_state, columns end_... */
extern const struct field health_fields[];  /* struct card_health, when a launch ended */
extern const struct field around_fields[];  /* struct surroundings */
extern const struct field case_fields[];    /* struct case_id */
extern const struct field result_fields[];  /* struct case_result, but its id */
extern const struct field span_fields[];    /* struct stage_span */
extern const struct field time_fields[];    /* struct stored_run: when, and how it ended */
extern const struct field verdict_fields[]; /* struct comparison_row: what made its verdict */

/* A table with its columns. */
struct table_columns {
    const char *name;
    int count;
    struct {
        char name[64], type; /* 'T'ext, 'I'nteger, 'R'eal, 'B'lob */
    } column[128];
};
int table_columns_read(struct table_columns *table, struct store *store, const char *name);

/* Open an INSERT whose parameters are the columns, by their names and in their order; what the
 * caller does not bind is NULL. `conflict` is the end of the statement, "" or an ON CONFLICT
 * clause. */
void insert_open(struct query *query, struct store *store, const char *purpose,
                 const struct table_columns *columns, const char *conflict);
/* The same of all columns that the table has. */
void row_open(struct query *query, struct store *store, const char *purpose, const char *table,
              const char *conflict);
void fields_bind(struct query *query, const struct field *fields, const void *base);
/* Fails the query on a word that this version does not know. */
void fields_read(struct query *query, const struct field *fields, void *base);

/* The case of a row: case_fields. What this program knows as a bound is one, also where a version
 * that had no such word stored it as a baseline. */
void case_read(struct query *query, struct case_id *id);
void fields_hash(struct id_hash *hash, const struct field *fields, const void *base);

/* The run and its launches into a struct of zeros: no cases, no transaction of its own. */
int store_read_head(struct store *store, const char *run_id, struct stored_run *run);

/* --------------------------------------------------------------- gates -- */

/* The launches of a gate or a calibration are runs of one launch each, told by their
 * labels (gate_run.c makes them): half of them are of another program, so latest and
 * the history pass over them. A condition in SQL on a row of run. */
#define STORE_OF_GATE "label GLOB 'gate ???????? round *'"

/* How many cases each run has, as `assay list` counts them: those that were measured for their
 * ceiling apart. SQL of SQLite and of PostgreSQL; `where` is a WHERE clause on launch and result,
 * or "". */
#define STORE_COUNTED(where)                                                                       \
    "SELECT run_id, is_ceiling, count(*) AS cases,"                                                \
    "  sum(CASE worst WHEN 0 THEN 1 ELSE 0 END) AS ok,"                                            \
    "  sum(CASE worst WHEN 2 THEN 1 ELSE 0 END) AS wrong"                                          \
    " FROM (SELECT run_id, CASE purpose WHEN 'ceiling' THEN 1 ELSE 0 END AS is_ceiling,"           \
    "   max(CASE status WHEN 'ok' THEN 0 WHEN 'wrong' THEN 2 ELSE 1 END) AS worst"                 \
    "   FROM launch JOIN result ON result.launch_id = launch.id " where                            \
    "   GROUP BY run_id, purpose, group_label, operation, shape, temperature, variant, place)"     \
    "   AS one GROUP BY run_id, is_ceiling"

/* A row of result is of the launch and the case of `plan`, a row of expected. */
#define STORE_OF_PLAN                                                                              \
    "result.launch_id = plan.launch_id AND result.operation = plan.operation"                      \
    " AND result.variant = plan.variant AND result.shape = plan.shape"                             \
    " AND result.temperature = plan.temperature AND result.place = plan.place"

/* The newest first, by an expression for when a run started. What says that it starts in the
 * future was written by a clock that was wrong: it comes last, or it would be `latest` until
 * then. The end of an ORDER BY. */
#define STORE_NEWEST_FIRST(started)                                                                \
    " ORDER BY " started " > strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), " started " DESC, "

/* -------------------------------------------------------------- schema -- */

/* What brings a database to `version`: `alters`, one of the step before; then `makes`, that one and
 * an empty one. What is released of `alters` is never edited: a change is a further row, and what
 * it alters is made in the step that makes it. Either may be NULL. */
struct store_step {
    int version; /* 0 ends the table */
    const char *makes, *alters;
};
extern const struct store_step store_steps[];
extern const int store_version; /* of the last step */

/* Bring the open database to the version of the last step, in one transaction. */
int store_migrate(struct store *store, const struct store_step *steps);

/* The id of a launch's case (store_write.c). 1: found, 0: there is none, -1: reported. */
int store_find_case(struct store *store, const char *launch_id, const struct case_id *id,
                    char result_id[STORE_ID]);

/* ------------------------------------------------------------ exchange -- */

/* A table that travels between databases, and by NDJSON if its rows are of a run. */
struct exchange {
    const char *table;
    const char *rows; /* FROM and after: which rows belong to run :run, in what order; "" none */
    const char *conflict; /* what happens to a row that is there already */
};
/* Ended by a NULL table; parents first, those of no run last. */
extern const struct exchange exchange_tables[];

/* SQL that counts the rows of table `theirs` whose key is in `ours` with another content; what
 * `conflict` may change is no part of that. `differ`: "IS NOT", or what the engine has for it.
 * sqlite3_free it; NULL with assay_error. */
char *merge_conflict_sql(struct store *store, const struct exchange *exchange, const char *theirs,
                         const char *ours, const char *differ);
/* Rows of `theirs` into the table, in the caller's transaction. */
int merge_table(struct store *store, const struct exchange *exchange, const char *theirs,
                struct merge_outcome *outcome);
void merge_note_conflicts(struct merge_outcome *outcome, const char *table, int64_t count);

enum { EXCHANGE_FORMAT = 1 };

/* What the elements of a BLOB column are, by their bytes. */
enum element { ELEMENT_U8 = 1, ELEMENT_U16 = 2, ELEMENT_F32 = 4 };
/* -1 with assay_error for a column that holds no samples. */
int element_of(const char *column);

/* The shortest decimal that reads back as `value`; 9e999 for infinity, which JSON lacks. */
enum { NUMBER_SIZE = 32 /* JSON_DIGITS */ };
void number_text(double value, char text[NUMBER_SIZE]);

/* SQL functions json_real(x) and json_samples(blob, column). */
int exchange_functions(struct store *store);
/* A JSON array of numbers as the bytes of a BLOB column; *bytes by malloc. */
int samples_parse(const char *json, enum element element, void **bytes, size_t *size);
