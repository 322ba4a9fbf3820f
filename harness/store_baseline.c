/* store_baseline.c - names that people give to runs. */
#include "store_gate.h"
#include "store_internal.h"
#include "store_rows.h"

int store_set_baseline(struct store *store, const char *name, const char *run_id, const char *note)
{
    struct query query;
    char now[TIMESTAMP_SIZE];
    timestamp_now(now);
    query_open(&query, store, "set a baseline",
               "INSERT INTO baseline (name, run_id, note, set_at)"
               " VALUES (:name, :run_id, :note, :now) ON CONFLICT (name) DO UPDATE SET"
               " run_id = excluded.run_id, note = excluded.note, set_at = excluded.set_at");
    query_text(&query, ":name", name);
    query_text(&query, ":run_id", run_id);
    query_text(&query, ":note", note);
    query_text(&query, ":now", now);
    return query_run(&query);
}

int store_drop_baseline(struct store *store, const char *name)
{
    struct query query;
    query_open(&query, store, "drop a baseline", "DELETE FROM baseline WHERE name = :name");
    query_text(&query, ":name", name);
    if (query_run(&query) != 0) return -1;
    if (sqlite3_changes(store->db) == 1) return 0;
    return assay_error("%s: there is no baseline '%s' (assay baseline list)", store->path, name);
}

int store_each_baseline(struct store *store,
                        int (*each)(const struct baseline_line *line, void *context), void *context)
{
    struct query query;
    struct baseline_line line;
    query_open(&query, store, "list the baselines",
               "SELECT name, run_id, suite, note, set_at FROM baseline"
               " JOIN run ON run.id = baseline.run_id ORDER BY name");
    while (query_step(&query) == 1) {
        column_text(&query, "name", line.name, sizeof line.name);
        column_text(&query, "run_id", line.run_id, sizeof line.run_id);
        column_text(&query, "suite", line.suite, sizeof line.suite);
        column_text(&query, "note", line.note, sizeof line.note);
        column_text(&query, "set_at", line.set_at, sizeof line.set_at);
        if (each(&line, context) != 0) break;
    }
    return query_close(&query);
}
