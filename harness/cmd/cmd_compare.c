/* cmd_compare.c - `assay compare`: two stored runs, case by case. */
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "cmd/ab_offer.h"
#include "cmd/gate_command.h"
#include "cmd/run_choice.h"
#include "show/comparison_formats.h"

struct arguments {
    struct given given;
    struct gate_command gating; /* of --measure; the report's options are both reports' */
    struct compare_options compare;
    bool measure;
    const char *make;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    struct compare_options *compare = &arguments->compare;
    compare->speedup = strcmp(arguments->gating.metric, "speedup") == 0;
    if (compare->fdr >= COMPARE_MOST_FDR)
        return assay_error("--fdr %g: of what is called changed that share would be false; "
                           "below %.0f is wanted, and 5 is usual",
                           100 * compare->fdr, 100 * COMPARE_MOST_FDR);
    const char *fail_on = arguments->gating.fail_on;
    return fail_on ? verdict_set_parse(fail_on, &compare->fail_on) : 0;
}

/* Measure what is open, as assay ab does, and report that instead. */
static int measure(const struct arguments *arguments, const struct ab_offer *offer)
{
    struct gate_command gating = arguments->gating;
    gating.gate.suite = offer->suite;
    gating.gate.filter = offer->filter[0] ? offer->filter : NULL;
    gating.gate.allow_simulated = offer->simulated;
    gating.gate.base_device = offer->own_device[0];
    gating.gate.candidate_device = offer->own_device[1];
    if (arguments->compare.threshold > 0) gating.gate.threshold = arguments->compare.threshold;
    if (offer->lacks[0]) return assay_error("--measure cannot: %s", offer->lacks);
    if (gate_command_check(&gating, &arguments->given) != 0) return -1;
    const char *const word[] = {offer->side[0], offer->side[1]};
    return gate_command_ab(&gating, &arguments->given, word, arguments->make);
}

static int report(const struct arguments *arguments, const struct comparison *comparison)
{
    const struct gate_command *to = &arguments->gating;
    if (comparison_save(comparison, to->format, to->output, to->all) != 0) return -1;
    if (comparison->exit == EXIT_NOTHING) {
        char why[WORDS_LINE];
        nothing_text(comparison, why);
        const char *apart = comparison->difference; /* and not beside another cause */
        bool helps =
            !arguments->compare.across && *apart && strncmp(why, apart, strlen(apart)) == 0;
        fprintf(stderr, "assay compare: nothing of the two runs can be compared: %s%s\n", why,
                helps ? "; --across compares them all the same" : "");
    }
    return comparison->exit;
}

static int answer(const struct arguments *arguments, struct comparison *comparison)
{
    const char *filter = arguments->compare.filter;
    struct ab_offer offer;
    if (comparison->count == 0 && filter) return EXIT_NOTHING; /* which was said */
    /* No device could measure both sides of two models. */
    bool is_one_model = strcmp(comparison->metric, "limits") != 0;
    if (!is_one_model && arguments->measure)
        return assay_error("--measure cannot: the runs are of two models of device");
    if (!is_one_model) return report(arguments, comparison);
    ab_offer_make(&offer, comparison, &arguments->compare, arguments->gating.db);
    return arguments->measure && offer.open > 0 ? measure(arguments, &offer)
                                                : report(arguments, comparison);
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    char *const *runs = arguments->given.word;
    struct comparison comparison;
    if (run_choice_compare(&comparison, runs[0], runs[1], arguments->gating.db,
                           &arguments->compare) != 0)
        return -1;
    int code = answer(arguments, &comparison);
    comparison_release(&comparison);
    return code;
}

static const struct command_option options[] = {
    OPTION_METRIC(gating.metric,
                  "time (default), or speedup: the ratio to the baseline of the same launch, which "
                  "cancels clock and temperature"),
    OPTION_FILTER(VALUE_CASE, compare.filter),
    {"threshold", VALUE_FRACTION, "PCT", AT(compare.threshold),
     .help = "the smallest change that counts (default: the suite's, else 2 where the SM clock "
             "stayed the same, else 5)"},
    {"fdr", VALUE_FRACTION, "PCT", AT(compare.fdr),
     .help =
         "take the tests of all cases together: on average this share of the cases called changed "
         "is false (Benjamini-Hochberg; below 50; for nightly reports, not for a gate)"},
    {"across", VALUE_FLAG, .at = AT(compare.across),
     .help = "compare also where device, firmware, driver, power limit, ECC, MIG, clock or flush "
             "differ; of two models by ratios to the baseline of the same launch and by shares of "
             "the ceilings"},
    {"fail-on", VALUE_TEXT, "LIST", AT(gating.fail_on),
     .help = "verdicts that end with 3: SUSPECT,UNSTABLE, or any",
     .choices = "any SUSPECT UNSTABLE"},
    {"all", VALUE_FLAG, .at = AT(gating.all), .help = "list the unchanged cases on a terminal too"},
    {"measure", VALUE_FLAG, .at = AT(measure),
     .help = "where launches are too few for a verdict, measure what they leave open as assay ab "
             "does, and report that"},
    {"make", VALUE_TEXT, "COMMAND", AT(make), .help = MAKE_HELP, .with = "measure"},
    {"format", VALUE_CHOICE, "NAME", AT(gating.format), .choices = "table md json html"},
    {"output", VALUE_FILE, "FILE", AT(gating.output), .help = "write there", .letter = 'o'},
    {"db", VALUE_DATABASE, "FILE", AT(gating.db), .help = OPTION_DB_HELP},
    {0},
};

const struct command cmd_compare = {
    .name = "compare",
    .summary = "two stored runs, case by case, with intervals",
    .options = options,
    .words = {{"BASE", .kind = VALUE_RUN}, {"CANDIDATE", .kind = VALUE_RUN}},
    .least = 2,
    .most = 2,
    .which = "which two runs? (assay list runs)",
    .only = "two runs only",
    .about = "Compares two stored runs: slower cases first, then faster, undecided, unchanged\n"
             "ones. A change is of the time: +2.4 % is slower. With four or more launches per\n"
             "side its interval is a 95 % confidence interval over launches. With fewer the\n"
             "last line is the assay ab that would come to a verdict, and --measure does that\n"
             "at once where both programs can be had.\n"
             "\n"
             "BASE and CANDIDATE are an id or its beginning, a label, a named baseline, latest\n"
             "or latest~N; FILE.sqlite:RUN takes a run from another database.\n",
    .notes = "What is acknowledged in the candidate's database (assay ack) does not fail.\n",
    .examples = "assay compare latest~1 latest\n"
                "assay compare release-1.2 latest --format md -o changes.md",
    .exit = "0 fine, 1 a case REGRESSED, 2 usage, 3 by --fail-on, 4 nothing comparable, 5 a case "
            "of the candidate failed or is missing, or shares of a job whose share is compared.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gating = {GATE_COMMAND_DEFAULTS}},
    .check = check,
    .run = run,
};
