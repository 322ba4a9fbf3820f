/* claim_formats.c - a ledger as a table (a line of figures per claim, and below it what was said
 * and why the verdict), as Markdown (a table per document) and as one JSON document. The names in
 * JSON are a public contract: format 1 may gain members, and never loses or changes one. */
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "base/text.h"
#include "case/shape.h"
#include "claims/claim_ledger.h"
#include "show/show.h"
#include "suite/plan.h"

const char *claim_verdict_name(enum claim_verdict verdict)
{
    static const char *const names[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = "HOLDS",
        [CLAIM_NEAR] = "HOLDS WITHIN 2X",
        [CLAIM_IN_DIRECTION] = "HOLDS IN DIRECTION",
        [CLAIM_FAILS] = "DOES NOT HOLD",
        [CLAIM_INCOMPARABLE] = "NOT COMPARABLE",
        [CLAIM_UNMEASURED] = "NOT MEASURED",
    };
    return names[verdict];
}

void claim_measured_text(const struct claim_finding *finding, char *out, size_t size)
{
    const struct interval *x = &finding->measured;
    char mid[UNITS_MAX], lo[UNITS_MAX], hi[UNITS_MAX];
    if (finding->claim->rule == RULE_RATIO || isnan(x->mid)) {
        show_ratio(out, size, x);
        return;
    }
    claim_figure_text(finding->claim, x->mid, mid);
    claim_figure_text(finding->claim, x->lo, lo);
    claim_figure_text(finding->claim, x->hi, hi);
    if (isnan(x->lo) || isnan(x->hi))
        snprintf(out, size, "%s", mid);
    else
        snprintf(out, size, "%s [%s, %s]", mid, lo, hi);
}

void claim_counts_text(const struct claim_ledger *ledger, char *out, size_t size)
{
    const char *between = ": ";
    snprintf(out, size, "%d claims", ledger->count);
    for (int v = 0; v < CLAIM_VERDICTS; v++) {
        if (!ledger->verdicts[v]) continue;
        text_add(out, size, between, "%d %s", ledger->verdicts[v], claim_verdict_name(v));
        between = ", ";
    }
}

/* ------------------------------------------------------------------ table -- */

enum { COLUMNS = 4, CELL = 96, INDENT = 4, LEAST_WIDTH = 40 };

struct line {
    char cell[COLUMNS][CELL];
};

static void line_of(struct line *line, const struct claim_finding *finding)
{
    snprintf(line->cell[0], CELL, "%s", finding->claim->id);
    snprintf(line->cell[1], CELL, "%s", claim_verdict_name(finding->verdict));
    claim_claimed_text(finding->claim, line->cell[2], CELL);
    claim_measured_text(finding, line->cell[3], CELL);
}

static void print_line(FILE *out, const struct line *line, const int wide[COLUMNS])
{
    for (int c = 0; c + 1 < COLUMNS; c++)
        fprintf(out, "%s%*s", line->cell[c], wide[c] - text_width(line->cell[c]) + 2, "");
    fprintf(out, "%s\n", line->cell[COLUMNS - 1]);
}

static void print_wrapped(FILE *out, const char *text, int width)
{
    if (!*text) return;
    if (width < INDENT + LEAST_WIDTH) width = INDENT + LEAST_WIDTH;
    fprintf(out, "%*s", INDENT, "");
    text_wrap(out, text, INDENT, INDENT, width);
}

static void table_foot(FILE *out, const struct claim_ledger *ledger)
{
    char counts[256];
    claim_counts_text(ledger, counts, sizeof counts);
    fprintf(out, "\n%s\n", counts);
    for (int i = 0; i < ledger->view_count; i++) {
        const struct stored_run *run = ledger->views[i].run;
        fprintf(out, "run %.8s, suite %s, %.10s, on %s%s\n", run->run.id, run->run.suite,
                run->started_at, run->launch_count ? run->launches[0].device.name : "no device",
                run->run.simulated ? " (SIMULATED)" : "");
    }
}

static int write_table(FILE *out, const struct claim_ledger *ledger, int width)
{
    struct line line = {{"claim", "verdict", "claimed", "measured"}};
    int wide[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        wide[c] = text_width(line.cell[c]);
    for (int i = 0; i < ledger->count; i++) {
        struct line one;
        line_of(&one, &ledger->item[i]);
        for (int c = 0; c < COLUMNS; c++)
            if (text_width(one.cell[c]) > wide[c]) wide[c] = text_width(one.cell[c]);
    }
    print_line(out, &line, wide);
    for (int i = 0; i < ledger->count; i++) {
        const struct claim *claim = ledger->item[i].claim;
        char said[2 * SUITE_MAX_VALUE];
        line_of(&line, &ledger->item[i]);
        print_line(out, &line, wide);
        snprintf(said, sizeof said, "%s: \"%s\"", claim->document, claim->says);
        print_wrapped(out, said, width);
        print_wrapped(out, ledger->item[i].why, width);
    }
    table_foot(out, ledger);
    return 0;
}

/* --------------------------------------------------------------- Markdown -- */

static void md_line(FILE *out, const struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    char claimed[CLAIM_WHY], measured[CLAIM_WHY];
    claim_claimed_text(claim, claimed, sizeof claimed);
    claim_measured_text(finding, measured, sizeof measured);
    md_print(out, "| %s | %s | %s | %s | %s | %s | %s |\n", claim->id, claim->says,
             claim->conditions, claimed, measured, claim_verdict_name(finding->verdict),
             finding->why);
}

static void md_foot(FILE *out, const struct claim_ledger *ledger)
{
    char counts[256];
    claim_counts_text(ledger, counts, sizeof counts);
    fprintf(out, "\n%s.", counts);
    for (int i = 0; i < ledger->view_count; i++) {
        const struct stored_run *run = ledger->views[i].run;
        md_print(out, "%s%.8s (%s, %s%s, %.10s)", i ? ", " : " Runs: ", run->run.id, run->run.suite,
                 run->launch_count ? run->launches[0].device.name : "no device",
                 run->run.simulated ? ", SIMULATED" : "", run->started_at);
    }
    fputs(ledger->view_count ? ".\n" : "\n", out);
}

static int write_md(FILE *out, const struct claim_ledger *ledger)
{
    const char *document = "";
    for (int i = 0; i < ledger->count; i++) {
        const struct claim_finding *finding = &ledger->item[i];
        if (strcmp(finding->claim->document, document))
            md_print(out,
                     "\n### %s\n\n| claim | it says | conditions | claimed | measured | verdict | "
                     "why |\n|:--|:--|:--|:--|:--|:--|:--|\n",
                     finding->claim->document);
        document = finding->claim->document;
        md_line(out, finding);
    }
    md_foot(out, ledger);
    return 0;
}

/* ------------------------------------------------------------------- JSON -- */

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

static FIELD_TABLE(claim_fields, FIELDS(claim, id, document, says, conditions));

static void finding_element(struct json *json, const struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    bool is_metric = claim->quantity == CLAIM_METRIC;
    json_begin_object(json);
    json_fields(json, claim_fields, claim);
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

static int write_json(FILE *out, const struct claim_ledger *ledger)
{
    struct json json;
    show_json_begin(&json, out);
    json_array_member(&json, "runs");
    for (int i = 0; i < ledger->view_count; i++) {
        const struct stored_run *run = ledger->views[i].run;
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
    for (int v = 0; v < CLAIM_VERDICTS; v++)
        json_int_member(&json, claim_verdict_name(v), ledger->verdicts[v]);
    return json_finish(&json);
}

int claim_ledger_write(FILE *out, const struct claim_ledger *ledger, const char *format, int width)
{
    if (!strcmp(format, "table")) return write_table(out, ledger, width);
    if (!strcmp(format, "md")) return write_md(out, ledger);
    if (!strcmp(format, "json")) return write_json(out, ledger);
    return assay_error("claims are not written as '%s'", format);
}
