/* store_verdict.c - what a gate decided, in the database; and the gates that nodes made, for one
 * verdict over them. */
#include <string.h>

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

FIELD_TABLE(verdict_fields, FIELDS(comparison_row, reason),
            FIELD_AS("ratio", comparison_row, ratio.mid),
            FIELD_AS("ratio_lo", comparison_row, ratio.lo),
            FIELD_AS("ratio_hi", comparison_row, ratio.hi),
            FIELDS(comparison_row, threshold, floor, noise),
            FIELD_AS("resolution", comparison_row, quantum));

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
        if (query_insert(&query) != 0) break;
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

static FIELD_TABLE(node_fields, FIELDS(gate_node, session), FIELD_AS("gate_id", gate_node, gate),
                   FIELDS(gate_node, suite), FIELD_AS("hostname", gate_node, host),
                   FIELDS(gate_node, card, started_at, simulated),
                   FIELD_AS("base_build", gate_node, build[0]),
                   FIELD_AS("candidate_build", gate_node, build[1]));

/* A gate is known by its first launch from the moment that this was stored, and one that proved all
 * its cases unchanged, without a launch, by its own row. Those of twins and of counters have
 * launches of another kind, which say nothing here. */
static const char select_nodes[] =
    "SELECT * FROM (SELECT substr(run.label, 6, 8) AS session, gate.id AS gate_id, run.suite, "
    "run.started_at,"
    " run.simulated, environment.hostname, iif(device.uuid = '', launch.spec, device.uuid) AS card,"
    " coalesce(gate.base_build, '') AS base_build,"
    " coalesce(gate.candidate_build, '') AS candidate_build"
    " FROM run JOIN launch ON launch.run_id = run.id JOIN device ON device.id = launch.device_id"
    " JOIN environment ON environment.id = run.environment_id"
    " LEFT JOIN gate ON substr(gate.id, 1, 8) = substr(run.label, 6, 8)"
    " WHERE run.label GLOB 'gate ???????? round 1, base'"
    " AND run.command NOT GLOB 'assay profile *'"
    " UNION ALL"
    " SELECT substr(id, 1, 8), id, suite, judged_at, simulated, hostname, card, base_build,"
    " candidate_build FROM gate"
    " WHERE mode = 'paired' AND hostname IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM run WHERE run.label IN ('gate ' || substr(gate.id, 1, 8) || ' round 1, base',"
    " 'gate ' || substr(gate.id, 1, 8) || ' round 1, twins'))"
    ") ORDER BY hostname, card, started_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),"
    " started_at DESC";

int store_each_gate_node(struct store *store,
                         int (*each)(const struct gate_node *node, void *context), void *context)
{
    struct query query;
    struct gate_node node = {0}, last;
    int status = 0;
    if (store_need(store, NEED_FLEET, "") != 0) return -1;
    query_open(&query, store, "list the gates of nodes", select_nodes);
    while (status == 0 && query_step(&query) == 1) {
        last = node;
        fields_read(&query, node_fields, &node);
        if (strcmp(node.host, last.host) != 0 || strcmp(node.card, last.card) != 0)
            status = each(&node, context);
    }
    return query_close(&query) == 0 ? status : -1;
}

int store_read_verdicts(struct store *store, const char *gate, struct comparison_row **rows,
                        int *count)
{
    struct query query;
    if (store_need(store, NEED_VERDICTS, gate) != 0) return -1;
    query_ask(&query, store, "read the verdicts of a gate",
              "SELECT * FROM verdict WHERE gate_id = :key", gate);
    for (struct comparison_row *row;
         (row = query_add(&query, rows, count, sizeof *row, "the verdicts of a gate"));) {
        char word[24];
        case_read(&query, &row->id);
        column_text(&query, "verdict", word, sizeof word);
        int verdict = verdict_parse(word);
        if (verdict < 0) query_refuse(&query, "'%s' is no verdict that this version knows", word);
        row->verdict = verdict < 0 ? VERDICT_INCONCLUSIVE : (enum verdict)verdict;
        fields_read(&query, verdict_fields, row);
    }
    return query_close(&query);
}
