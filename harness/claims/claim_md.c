/* claim_md.c - a ledger as GitHub tables, one a document. */
#include <string.h>

#include "base/markup.h"
#include "claims/claim_ledger.h"

static void line(FILE *out, const struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    char claimed[CLAIM_WHY], measured[CLAIM_WHY];
    claim_claimed_text(claim, claimed, sizeof claimed);
    claim_measured_text(finding, measured, sizeof measured);
    md_print(out, "| %s | %s | %s | %s | %s | %s | %s |\n", claim->id, claim->says,
             claim->conditions, claimed, measured, claim_verdict_name(finding->verdict),
             finding->why);
}

static void foot(FILE *out, const struct claim_ledger *ledger, const struct view *views, int count)
{
    char counts[256];
    claim_counts_text(ledger, counts, sizeof counts);
    fprintf(out, "\n%s.", counts);
    for (int i = 0; i < count; i++) {
        const struct stored_run *run = views[i].run;
        md_print(out, "%s%.8s (%s, %s%s, %.10s)", i ? ", " : " Runs: ", run->run.id, run->run.suite,
                 run->launch_count ? run->launches[0].device.name : "no device",
                 run->run.simulated ? ", SIMULATED" : "", run->started_at);
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
        if (strcmp(finding->claim->document, document))
            md_print(out,
                     "\n### %s\n\n| claim | it says | conditions | claimed | measured | verdict | "
                     "why |\n|:--|:--|:--|:--|:--|:--|:--|\n",
                     finding->claim->document);
        document = finding->claim->document;
        line(out, finding);
    }
    foot(out, ledger, views, count);
    return 0;
}
