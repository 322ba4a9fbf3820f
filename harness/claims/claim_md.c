/* claim_md.c - a ledger as GitHub tables, one a document. */
#include <string.h>

#include "base/markup.h"
#include "claims/claim_ledger.h"

static void cell(FILE *out, const char *text)
{
    markup_md(out, text);
    fputs(" | ", out);
}

static void head(FILE *out, const char *document)
{
    fputs("\n### ", out);
    markup_md(out, document);
    fputs("\n\n| claim | it says | conditions | claimed | measured | verdict | why |\n"
          "|:--|:--|:--|:--|:--|:--|:--|\n",
          out);
}

static void line(FILE *out, const struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    char text[CLAIM_WHY];
    fputs("| ", out);
    cell(out, claim->id);
    cell(out, claim->says);
    cell(out, claim->conditions);
    claim_claimed_text(claim, text, sizeof text);
    cell(out, text);
    claim_measured_text(finding, text, sizeof text);
    cell(out, text);
    cell(out, claim_verdict_name(finding->verdict));
    markup_md(out, finding->why);
    fputs(" |\n", out);
}

static void foot(FILE *out, const struct claim_ledger *ledger, const struct view *views, int count)
{
    char counts[256];
    claim_counts_text(ledger, counts, sizeof counts);
    fprintf(out, "\n%s.", counts);
    for (int i = 0; i < count; i++) {
        const struct stored_run *run = views[i].run;
        char id[9], date[11];
        snprintf(id, sizeof id, "%s", run->run.id);
        snprintf(date, sizeof date, "%s", run->started_at);
        fputs(i ? ", " : " Runs: ", out);
        markup_md(out, id);
        fputs(" (", out);
        markup_md(out, run->run.suite);
        fputs(", ", out);
        markup_md(out, run->launch_count ? run->launches[0].device.name : "no device");
        fputs(run->run.simulated ? ", SIMULATED, " : ", ", out);
        markup_md(out, date);
        fputs(")", out);
    }
    fputs(count ? ".\n" : "\n", out);
}

int claim_ledger_md(FILE *out, const struct claim_ledger *ledger, const struct view *views,
                    int count, const struct claim_options *options)
{
    const char *document = "";
    (void)options;
    for (int i = 0; i < ledger->count; i++) {
        const struct claim_finding *finding = &ledger->item[i];
        if (strcmp(finding->claim->document, document)) head(out, finding->claim->document);
        document = finding->claim->document;
        line(out, finding);
    }
    foot(out, ledger, views, count);
    return 0;
}
