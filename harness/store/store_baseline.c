/* store_baseline.c - names that people give to runs. */
#include "store/store_gate.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

int store_set_baseline(struct store *store, const char *name, const char *run_id, const char *note)
{
    struct query query;
    row_open(&query, store, "set a baseline", "baseline",
             "ON CONFLICT (name) DO UPDATE SET run_id = excluded.run_id, note = excluded.note,"
             " set_at = excluded.set_at");
    query_text(&query, ":name", name);
    query_text(&query, ":run_id", run_id);
    query_text(&query, ":note", note);
    query_now(&query, ":set_at");
    return query_run(&query);
}

int store_drop_baseline(struct store *store, const char *name)
{
    struct query query;
    query_ask(&query, store, "drop a baseline", "DELETE FROM baseline WHERE name = :key", name);
    if (query_run(&query) != 0) return -1;
    if (sqlite3_changes(store->db) == 1) return 0;
    return assay_error("%s: there is no baseline '%s' (assay baseline list)", store->path, name);
}

static const struct field line_fields[] = {FIELDS(baseline_line, name, run_id, suite, note, set_at),
                                           {0}};

int store_each_baseline(struct store *store,
                        int (*each)(const struct baseline_line *line, void *context), void *context)
{
    struct query query;
    struct baseline_line line;
    query_open(&query, store, "list the baselines",
               "SELECT name, run_id, suite, note, set_at FROM baseline"
               " JOIN run ON run.id = baseline.run_id ORDER BY name");
    while (query_step(&query) == 1) {
        fields_read(&query, line_fields, &line);
        if (each(&line, context) != 0) break;
    }
    return query_close(&query);
}

/* An environment is hashed from all that a build and a machine are. */
int store_each_sibling(struct store *store, const char *run_id,
                       int (*each)(const char *run_id, void *context), void *context)
{
    struct query query;
    int status = 0;
    query_ask(&query, store, "look for runs of the same build",
              "SELECT other.id FROM run AS named"
              " JOIN environment ON environment.id = named.environment_id"
              " JOIN launch AS first ON first.run_id = named.id AND first.number = 1"
              " JOIN run AS other ON other.environment_id = named.environment_id"
              " AND other.suite = named.suite AND other.id != named.id"
              " WHERE named.id = :key AND environment.git_commit != ''"
              " AND other.status = 'complete' AND other.shard_count IS NULL"
              " AND NOT other." STORE_OF_GATE
              " AND EXISTS (SELECT 1 FROM launch WHERE launch.run_id = other.id"
              "   AND launch.comparability = first.comparability"
              "   AND (launch.spec = first.spec OR NOT named.simulated))"
              " ORDER BY other.started_at, other.rowid",
              run_id);
    while (status == 0 && query_step(&query) == 1) {
        char id[STORE_ID];
        column_text(&query, "id", id, sizeof id);
        status = each(id, context);
    }
    if (query_close(&query) != 0) status = -1;
    return status;
}
