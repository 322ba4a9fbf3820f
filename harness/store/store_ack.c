/* store_ack.c - changes that somebody knows of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/case_name.h"
#include "store/store_gate.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

int store_set_ack(struct store *store, const struct ack *ack)
{
    struct query query;
    row_open(&query, store, "acknowledge a change", "ack",
             "ON CONFLICT (pattern) DO UPDATE SET reason = excluded.reason,"
             " git_commit = excluded.git_commit, up_to = excluded.up_to,"
             " expires_at = excluded.expires_at, set_at = excluded.set_at");
    query_text(&query, ":pattern", ack->pattern);
    query_text(&query, ":reason", ack->reason);
    query_text(&query, ":git_commit", ack->commit);
    query_real(&query, ":up_to", ack->up_to);
    query_text(&query, ":expires_at", ack->expires_at);
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
        column_text(&query, "pattern", ack.pattern, sizeof ack.pattern);
        column_text(&query, "reason", ack.reason, sizeof ack.reason);
        column_text(&query, "git_commit", ack.commit, sizeof ack.commit);
        ack.up_to = column_real(&query, "up_to");
        column_text(&query, "expires_at", ack.expires_at, sizeof ack.expires_at);
        column_text(&query, "set_at", ack.set_at, sizeof ack.set_at);
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
