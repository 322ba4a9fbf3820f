/*
 * central_need.c - a central store behind the calls of store.h. The store is an SQLite database in
 * memory, with the schema of any other; what a function of the store is about to read comes into it
 * first. All that one store reads is of one moment of the server (one transaction).
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "store/postgres/central.h"

/* STORE_OF_GATE, and the present, as the server has them. */
#define OF_GATE "label LIKE 'gate ________ round %'"
#define NOW     "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* Runs that began at the same moment come in the order of their ids. */
#define IN_ORDER " ORDER BY started_at, id"

/* Of run its head: without the text of the suite. A list ends with {0}. */
struct part {
    const char *table;
    const char *rows; /* FROM and after, with the key as :run */
};

/* Candidates for the newest; store_find.c chooses among them. :run is how many. */
#define NEWEST(which)                                                                              \
    "(SELECT id FROM run WHERE " which " ORDER BY started_at DESC LIMIT CAST(:run AS integer))"
static const struct part newest[] = {
    {"run", "WHERE id = ANY (ARRAY" NEWEST("started_at <= " NOW " AND NOT " OF_GATE) ") " IN_ORDER},
    {"run", "WHERE id = ANY (ARRAY" NEWEST("started_at > " NOW " AND NOT " OF_GATE) ")" IN_ORDER},
    {"run", "WHERE id = ANY (ARRAY" NEWEST("started_at <= " NOW) ")" IN_ORDER},
    {"run", "WHERE id = ANY (ARRAY" NEWEST("started_at > " NOW) ")" IN_ORDER},
    {0},
};

static const struct part named[] = {
    {"run", "WHERE label = :run" IN_ORDER},
    {"run",
     "JOIN (SELECT lower(:run) AS text) AS prefix ON id >= text AND id < text || 'g'" IN_ORDER},
    {0},
};

static const struct part heads[] = {
    {"run", IN_ORDER}, {"environment", ""},
    {"device", ""},    {"launch", "ORDER BY run_id, number"},
    {"gate", ""},      {0},
};

static const struct part launch[] = {{"launch", "WHERE id = :run"}, {0}};
static const struct part shares[] = {
    {"run", "WHERE shard_count > 1 AND (:run = '' OR shard_group = :run)" IN_ORDER}, {0}};
static const struct part counts[] = {{"counted", ""}, {0}};

/* The first letters of an operation are what its index can find. */
static const struct part cases[] = {
    {"result",
     "WHERE operation >= split_part(:run, '/', 1)"
     " AND operation <= split_part(:run, '/', 1) || chr(1114111) AND purpose = 'case' AND "
     "launch_id IN (SELECT launch.id FROM launch"
     " JOIN run ON run.id = launch.run_id WHERE NOT " OF_GATE ")"
     " AND starts_with(operation || '/' || variant, :run)"},
    {0},
};

#define OF_LAUNCHES "WHERE launch_id = ANY (ARRAY(SELECT json_array_elements_text(:run)))"
static const struct part objects[] = {{"object", ""}, {0}};
static const struct part launches[] = {{"expected", OF_LAUNCHES}, {"result", OF_LAUNCHES}, {0}};

static const struct part noise[] = {{"noise", "WHERE comparability = :run"}, {0}};
static const struct part all_noise[] = {{"noise", ""}, {0}};

static const struct part pairs[] = {
    {"noise", "WHERE source = 'code'"},
    {"result", "WHERE launch_id IN (SELECT launch.id FROM launch JOIN run ON run.id = launch.run_id"
               " WHERE comparability = :run AND label LIKE 'gate %')"},
    {0},
};

static const struct part verdicts[] = {{"verdict", "WHERE gate_id = :run"}, {0}};

/* ---------------------------------------------------------------- fetching -- */

static const struct table_columns counted = {
    "counted",
    5,
    {{"run_id", 'T'}, {"is_ceiling", 'I'}, {"cases", 'I'}, {"ok", 'I'}, {"wrong", 'I'}}};

/* A run that came as a head gets its text. */
static const char *conflict_of(const char *table)
{
    return strcmp(table, "run") == 0
               ? "ON CONFLICT (id) DO UPDATE SET suite_text = excluded.suite_text"
                 " WHERE suite_text = ''"
               : "ON CONFLICT DO NOTHING";
}

static bool is_fetched(const struct central *central, const char *table)
{
    char word[64];
    snprintf(word, sizeof word, " %.60s ", table);
    return strstr(central->fetched, word) != NULL;
}

static void note_fetched(struct central *central, const char *table)
{
    if (is_fetched(central, table)) return;
    if (!central->fetched[0]) strcpy(central->fetched, " ");
    text_add(central->fetched, sizeof central->fetched, "", "%s ", table);
}

/* Whether a table stands on the server, and not here alone or in SQLite itself. */
static bool is_there(const char *table)
{
    for (const struct exchange *exchange = exchange_tables; exchange->table; exchange++)
        if (strcmp(exchange->table, table) == 0) return true;
    return strcmp(counted.name, table) == 0;
}

/* SQLite asks when a statement is prepared. A table that was not fetched is not empty but unknown,
 * so a function that has not said what it needs fails here, and does not take it for empty. */
static int authorize(void *context, int action, const char *table, const char *column,
                     const char *database, const char *trigger)
{
    const struct central *central = context;
    (void)column, (void)database, (void)trigger;
    if (action != SQLITE_READ || central->is_fetching || !is_there(table)) return SQLITE_OK;
    return is_fetched(central, table) ? SQLITE_OK : SQLITE_DENY;
}

static int fetch(struct store *store, const char *name, const char *rows, bool is_head,
                 const char *key)
{
    note_fetched(store->central, name);
    struct table_columns table = counted;
    if (strcmp(name, counted.name) != 0 && table_columns_read(&table, store, name) != 0) return -1;
    char *select = copy_select(store->central, &table, is_head ? "suite_text" : NULL, rows, key);
    if (!select) return -1;
    int status = copy_fetch(store->central, store, &table, select, conflict_of(name));
    sqlite3_free(select);
    return status;
}

static int fetch_parts(struct store *store, const struct part *part, const char *key)
{
    int status = 0;
    for (; status == 0 && part->table; part++)
        status = fetch(store, part->table, part->rows, strcmp(part->table, "run") == 0, key);
    return status;
}

static int fetch_run(struct store *store, const char *id)
{
    int status = 0;
    for (const struct exchange *table = exchange_tables; status == 0 && *table->rows; table++)
        status = fetch(store, table->table, table->rows, false, id);
    return status;
}

/* What each need has, but NEED_RUN: the rows of an exchange. */
static const struct part *const needs[][2] = {
    [NEED_FLEET] = {heads, objects},
    [NEED_LAUNCHES] = {launches},
    [NEED_NEWEST] = {newest},
    [NEED_NAMED] = {named},
    [NEED_SHARES] = {shares},
    [NEED_LAUNCH] = {launch},
    [NEED_LIST] = {heads, counts},
    [NEED_CASES] = {heads, cases},
    [NEED_NOISE] = {noise},
    [NEED_PAIRS] = {heads, pairs},
    [NEED_NOISY_DEVICES] = {heads, all_noise},
    [NEED_VERDICTS] = {verdicts},
};

/* What every case that a pattern names begins with (case_name.h); "" where that is not known. */
static const char *beginning(const char *pattern, char begin[CASE_TEXT])
{
    int length = strpbrk(pattern, ",\t\n") ? 0 : (int)strcspn(pattern, " *?[\\");
    snprintf(begin, CASE_TEXT, "%.*s", length, pattern);
    return begin;
}

static int fetch_need(struct store *store, enum need need, const char *key)
{
    char begin[CASE_TEXT];
    if (need == NEED_RUN) return fetch_run(store, key);
    if (need == NEED_CASES) key = beginning(key, begin);
    for (int i = 0; i < 2 && needs[need][i]; i++)
        if (fetch_parts(store, needs[need][i], key) != 0) return -1;
    return 0;
}

int store_need(struct store *store, enum need need, const char *key)
{
    static const char purpose[] = "read a central store";
    if (!store->central) return 0;
    /* The caller may be in a transaction. */
    if (store_exec(store, purpose, "PRAGMA query_only = OFF; SAVEPOINT need") != 0) return -1;
    store->central->is_fetching = true;
    int status = fetch_need(store, need, key);
    store->central->is_fetching = false;
    if (store_exec(store, purpose, "RELEASE need; PRAGMA query_only = ON") != 0) status = -1;
    return status;
}

/* ----------------------------------------------------------------- opening -- */

int store_open_url(struct store **out, const char *url, enum store_mode mode)
{
    struct store *store = NULL;
    char shown[STORE_SHOWN];
    *out = NULL;
    if (mode != STORE_READ)
        return assay_error("%s: a central store is written by assay push alone: measure into a "
                           "file (--db FILE), then: assay push URL --db FILE",
                           store_shown(url, shown));
    int status = store_open_memory(&store);
    if (status == 0)
        status = store_exec(store, "open the store",
                            "PRAGMA foreign_keys = OFF;"
                            "CREATE TEMP TABLE counted (run_id TEXT, is_ceiling INTEGER,"
                            " cases INTEGER, ok INTEGER, wrong INTEGER,"
                            " PRIMARY KEY (run_id, is_ceiling));"
                            "PRAGMA query_only = ON");
    if (status == 0) status = central_open(&store->central, url);
    if (status == 0)
        status = central_exec(store->central, "open the store",
                              "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL);
    if (status == 0) {
        sqlite3_set_authorizer(store->db, authorize, store->central);
        snprintf(store->path, sizeof store->path, "%s", store->central->shown);
        *out = store;
    } else {
        store_close(store);
    }
    return status;
}
