/* store_gate_nodes.c - the gates that nodes made, for one verdict over them. */
#include "base/grow.h"
#include "store/store_gate.h"
#include "store/store_internal.h"

static const struct field node_fields[] = {FIELDS(gate_node, session),
                                           FIELD_AS("gate_id", gate_node, gate),
                                           FIELDS(gate_node, suite),
                                           FIELD_AS("hostname", gate_node, host),
                                           FIELDS(gate_node, card, started_at, simulated),
                                           FIELD_AS("base_build", gate_node, build[0]),
                                           FIELD_AS("candidate_build", gate_node, build[1]),
                                           {0}};

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
    int status = 0;
    if (store_need(store, NEED_VERDICTS, gate) != 0) return -1;
    query_ask(&query, store, "read the verdicts of a gate",
              "SELECT * FROM verdict WHERE gate_id = :key", gate);
    while (status == 0 && query_step(&query) == 1) {
        char word[24];
        struct comparison_row *row = grow_add(rows, count, sizeof *row, "the verdicts of a gate");
        status = row ? 0 : -1;
        if (!row) continue;
        case_read(&query, &row->id);
        column_text(&query, "verdict", word, sizeof word);
        int verdict = verdict_parse(word);
        if (verdict < 0) query_refuse(&query, "'%s' is no verdict that this version knows", word);
        row->verdict = verdict < 0 ? VERDICT_INCONCLUSIVE : (enum verdict)verdict;
        fields_read(&query, verdict_fields, row);
    }
    return query_close(&query) == 0 ? status : -1;
}
