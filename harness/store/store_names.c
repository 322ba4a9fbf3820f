/* store_names.c - what people said: the names that they gave to runs, and the changes that they
 * know of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/case_name.h"
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

static FIELD_TABLE(line_fields, FIELDS(baseline_line, name, run_id, suite, note, set_at));

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

static FIELD_TABLE(ack_fields, FIELDS(ack, pattern, reason), FIELD_AS("git_commit", ack, commit),
                   FIELDS(ack, up_to, expires_at, set_at));

int store_set_ack(struct store *store, const struct ack *ack)
{
    struct query query;
    row_open(&query, store, "acknowledge a change", "ack",
             "ON CONFLICT (pattern) DO UPDATE SET reason = excluded.reason,"
             " git_commit = excluded.git_commit, up_to = excluded.up_to,"
             " expires_at = excluded.expires_at, set_at = excluded.set_at");
    fields_bind(&query, ack_fields, ack);
    query_now(&query, ":set_at");
    return query_run(&query);
}

int store_drop_ack(struct store *store, const char *pattern)
{
    struct query query;
    query_ask(&query, store, "drop an acknowledgement", "DELETE FROM ack WHERE pattern = :key",
              pattern);
    if (query_run(&query) != 0) return -1;
    if (sqlite3_changes(store->db) == 1) return 0;
    return assay_error("%s: nothing is acknowledged as '%s' (assay ack --list)", store->path,
                       pattern);
}

int store_each_ack(struct store *store, int (*each)(const struct ack *ack, void *context),
                   void *context)
{
    struct query query;
    struct ack ack;
    char now[TIMESTAMP_SIZE];
    timestamp_now(now);
    query_open(&query, store, "list what is acknowledged", "SELECT * FROM ack ORDER BY pattern");
    while (query_step(&query) == 1) {
        fields_read(&query, ack_fields, &ack);
        ack.expired = strcmp(ack.expires_at, now) < 0;
        if (each(&ack, context) != 0) break;
    }
    return query_close(&query);
}

/* An ack is of a slowdown, or of a case that the candidate redefined, which has no ratio that a
 * limit could hold; a wrong answer or a lost case nobody can accept. */
static bool accepts(const struct ack *ack, const struct comparison_row *row)
{
    if (row->tags & TAG_REDEFINED) return isnan(ack->up_to);
    if (row->verdict != VERDICT_REGRESSED && row->verdict != VERDICT_SUSPECT) return false;
    return !(row->ratio.mid > ack->up_to);
}

static int apply(const struct ack *ack, void *context)
{
    struct comparison *comparison = context;
    if (ack->expired) return 0;
    for (int i = 0; i < comparison->count; i++) {
        struct comparison_row *row = &comparison->rows[i];
        if (!accepts(ack, row) || !case_matches(ack->pattern, &row->id)) continue;
        row->tags |= TAG_ACK;
        snprintf(row->reason, sizeof row->reason, "acknowledged until %.10s: %.200s",
                 ack->expires_at, ack->reason);
    }
    return 0;
}

int store_apply_acks(struct store *store, struct comparison *comparison)
{
    return store_each_ack(store, apply, comparison);
}
