/* store_ack.c - changes that somebody knows of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/case_name.h"
#include "store/store_gate.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

static const struct field ack_fields[] = {FIELDS(ack, pattern, reason),
                                          FIELD_AS("git_commit", ack, commit),
                                          FIELDS(ack, up_to, expires_at, set_at),
                                          {0}};

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
