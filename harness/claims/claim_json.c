/* claim_json.c - a ledger as one JSON document. The names are a public contract:
 * format 1 may gain members, and never loses or changes one. */
#include "base/json.h"
#include "case/shape.h"
#include "claims/claim_ledger.h"
#include "show/show.h"
#include "suite/plan.h"

static void case_member(struct json *json, const char *key, const struct claim_case *side)
{
    char shape[RESULT_MAX_SHAPE];
    json_key(json, key);
    if (!side->line) {
        json_null(json);
        return;
    }
    json_begin_object(json);
    json_known_member(json, "operation", side->operation);
    json_known_member(json, "variant", side->variant);
    json_key(json, "shape");
    if (side->shape.operation) {
        shape_text(&side->shape, shape, sizeof shape);
        json_shape(json, shape);
    } else {
        json_null(json);
    }
    json_known_member(json, "temperature", temperature_name(side->temperature));
    json_end(json);
}

static void finding_element(struct json *json, const struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    bool is_metric = claim->quantity == CLAIM_METRIC;
    json_begin_object(json);
    json_known_member(json, "id", claim->id);
    json_known_member(json, "document", claim->document);
    json_known_member(json, "says", claim->says);
    json_known_member(json, "conditions", claim->conditions);
    json_known_member(json, "quantity",
                      is_metric ? claim->metric : claim_quantity_name(claim->quantity));
    json_number_member(json, "claimed_least", claim->least);
    json_number_member(json, "claimed_most", claim->most);
    case_member(json, "more", &claim->side[CLAIM_MORE]);
    case_member(json, "less", &claim->side[CLAIM_LESS]);
    json_number_member(json, "measured", finding->measured.mid);
    json_number_member(json, "measured_lo", finding->measured.lo);
    json_number_member(json, "measured_hi", finding->measured.hi);
    json_known_member(json, "verdict", claim_verdict_name(finding->verdict));
    json_known_member(json, "why", finding->why);
    json_known_member(json, "run", finding->view ? finding->view->run->run.id : NULL);
    json_end(json);
}

int claim_ledger_json(FILE *out, const struct claim_ledger *ledger, const struct view *views,
                      int count, const struct claim_options *options)
{
    struct json json;
    (void)options;
    show_json_begin(&json, out);
    json_array_member(&json, "runs");
    for (int i = 0; i < count; i++) {
        const struct stored_run *run = views[i].run;
        json_begin_object(&json);
        json_known_member(&json, "id", run->run.id);
        json_known_member(&json, "suite", run->run.suite);
        json_known_member(&json, "started_at", run->started_at);
        json_known_member(&json, "device", run->launch_count ? run->launches[0].device.name : NULL);
        json_bool_member(&json, "simulated", run->run.simulated);
        json_end(&json);
    }
    json_end(&json);
    json_array_member(&json, "claims");
    for (int i = 0; i < ledger->count; i++)
        finding_element(&json, &ledger->item[i]);
    json_end(&json);
    json_object_member(&json, "counts");
    for (int v = 0; v < CLAIM_VERDICTS; v++) {
        json_int_member(&json, claim_verdict_name((enum claim_verdict)v), ledger->verdicts[v]);
    }
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}
