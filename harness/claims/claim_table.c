/* claim_table.c - a ledger for the terminal: a line of figures a claim, and below
 * it what was said and why the verdict. */
#include <string.h>

#include "base/text.h"
#include "claims/claim_ledger.h"

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

static void foot(FILE *out, const struct claim_ledger *ledger, const struct view *views, int count)
{
    char counts[256];
    claim_counts_text(ledger, counts, sizeof counts);
    fprintf(out, "\n%s\n", counts);
    for (int i = 0; i < count; i++) {
        const struct stored_run *run = views[i].run;
        fprintf(out, "run %.8s, suite %s, %.10s, on %s%s\n", run->run.id, run->run.suite,
                run->started_at, run->launch_count ? run->launches[0].device.name : "no device",
                run->run.simulated ? " (SIMULATED)" : "");
    }
}

int claim_ledger_table(FILE *out, const struct claim_ledger *ledger, const struct view *views,
                       int count, const struct claim_options *options)
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
        print_wrapped(out, said, options->width);
        print_wrapped(out, ledger->item[i].why, options->width);
    }
    foot(out, ledger, views, count);
    return 0;
}
