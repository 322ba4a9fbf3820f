/* store_verdict.c - what a gate decided, in the database. */
#include "store/store_gate.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

static const char *side_name(const struct comparison_side *side)
{
    return side->program[0] ? side->program : side->id;
}

/* "1a2b3c4d 5e6f": the commit, and what is not committed. */
static void build_text(const struct comparison_side *side, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", side->commit, side->diff_hash[0] ? " " : "", side->diff_hash);
}

static int gate_write(struct store *store, const char *id, const char *comparability,
                      const struct comparison *comparison)
{
    const struct comparison_side *base = &comparison->base;
    char build[RESULT_MAX_PROPERTY + RESULT_MAX_HASH + 1];
    struct query query;
    row_open(&query, store, "store a gate", "gate", "");
    query_text(&query, ":id", id);
    query_text(&query, ":mode", comparison->mode);
    query_text(&query, ":suite", comparison->candidate.suite);
    query_text(&query, ":base", side_name(&comparison->base));
    query_text(&query, ":candidate", side_name(&comparison->candidate));
    query_text(&query, ":comparability", comparability);
    query_now(&query, ":judged_at");
    query_integer(&query, ":exit", comparison->exit);
    query_text(&query, ":hostname", base->host);
    query_text(&query, ":card", base->uuid[0] ? base->uuid : base->spec);
    query_integer(&query, ":simulated", base->simulated);
    build_text(base, build, sizeof build);
    query_text(&query, ":base_build", build);
    build_text(&comparison->candidate, build, sizeof build);
    query_text(&query, ":candidate_build", build);
    return query_run(&query);
}

const struct field verdict_fields[] = {FIELDS(comparison_row, reason),
                                       FIELD_AS("ratio", comparison_row, ratio.mid),
                                       FIELD_AS("ratio_lo", comparison_row, ratio.lo),
                                       FIELD_AS("ratio_hi", comparison_row, ratio.hi),
                                       FIELDS(comparison_row, threshold, floor, noise),
                                       FIELD_AS("resolution", comparison_row, quantum),
                                       {0}};

static void verdict_bind(struct query *query, const char *gate_id, const struct comparison_row *row)
{
    char tags[128];
    tags_text(row->tags, tags, sizeof tags);
    query_text(query, ":gate_id", gate_id);
    fields_bind(query, case_fields, &row->id);
    query_text(query, ":verdict", verdict_name(row->verdict));
    query_text(query, ":tags", tags);
    fields_bind(query, verdict_fields, row);
    query_real(query, ":mde", row->mde);
    query_real(query, ":fence", row->fence);
    query_integer(query, ":launches", row->launches);
}

static int verdicts_write(struct store *store, const char *gate_id,
                          const struct comparison *comparison)
{
    struct query query;
    row_open(&query, store, "store a verdict", "verdict", "");
    for (int i = 0; i < comparison->count; i++) {
        verdict_bind(&query, gate_id, &comparison->rows[i]);
        if (query_step(&query) != 0) break;
        query_reset(&query);
    }
    return query_close(&query);
}

int store_add_gate(struct store *store, const char *id, const char *comparability,
                   const struct comparison *comparison)
{
    static const char purpose[] = "store a gate";
    if (store_begin(store, purpose) != 0) return -1;
    int status = gate_write(store, id, comparability, comparison);
    if (status == 0) status = verdicts_write(store, id, comparison);
    return store_finish(store, purpose, status);
}
