/* cmd_gate.c - `assay gate`: is the candidate slower, with known error rates. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "cmd/options.h"
#include "gate/gate_run.h"
#include "show/comparison_formats.h"
#include "suite/suite_find.h"

struct arguments {
    struct given given;
    struct gate_options gate;
    const char *device, *db, *format, *metric, *fail_on;
    const char *output, *junit, *markdown, *json;
    bool annotations, all;
};

enum { STORED_LAUNCHES = 6 }; /* of the candidate against a stored run, unless told */

static int check(void *given)
{
    struct arguments *arguments = given;
    struct gate_options *gate = &arguments->gate;
    if (!gate->base && !gate->baseline)
        return assay_error("compare with what? (--base PROGRAM or --baseline NAME)");
    if (gate->base && gate->baseline) return assay_error("--base or --baseline, not both");
    if ((gate->base && !gate->base[0]) || (gate->candidate && !gate->candidate[0]))
        return assay_error("--base and --cand want a program, not ''");
    if (gate->least_judged > 1) return assay_error("--least-judged is a share: at most 100");
    gate->suite = arguments->given.word[0];
    gate->speedup = strcmp(arguments->metric, "speedup") == 0;
    gate->has_seed = option_given(given, "seed") != NULL;
    if (!gate->base_device) gate->base_device = arguments->device;
    if (!gate->candidate_device) gate->candidate_device = arguments->device;
    bool simulated = strncmp(gate->candidate_device, "sim", 3) == 0 ||
                     (gate->base && strncmp(gate->base_device, "sim", 3) == 0);
    if (simulated && !gate->allow_simulated)
        return assay_error("a gate of a simulated device proves nothing (--allow-simulated)");
    return arguments->fail_on ? verdict_set_parse(arguments->fail_on, &gate->fail_on) : 0;
}

static int report(const struct arguments *arguments, const struct comparison *comparison)
{
    const char *const outputs[][2] = {{arguments->format, arguments->output},
                                      {"junit", arguments->junit},
                                      {"md", arguments->markdown},
                                      {"json", arguments->json}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if ((i == 0 || outputs[i][1]) &&
            comparison_save(comparison, outputs[i][0], outputs[i][1], arguments->all) != 0)
            return -1;
    return arguments->annotations ? comparison_annotations(stderr, comparison) : 0;
}

/* Before minutes are spent on what could not be written down. */
static int try_outputs(const struct arguments *arguments)
{
    const char *const paths[] = {arguments->output, arguments->junit, arguments->markdown,
                                 arguments->json};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (out_file_try(paths[i]) != 0) return -1;
    return 0;
}

/* The exit code of a gate that came to a comparison, or -1. */
static int finish(const struct arguments *arguments, const struct comparison *comparison)
{
    char why[WORDS_LINE];
    if (comparison->exit == EXIT_NOTHING) {
        unjudged_text(comparison, why);
        fprintf(stderr, "assay gate: %s\n", why);
    }
    return report(arguments, comparison) == 0 ? comparison->exit : -1;
}

static int run(void *given)
{
    struct arguments *arguments = given;
    struct gate_options *gate = &arguments->gate;
    char itself[PATH_MAX], suite[SUITE_MAX_PATH];
    struct store *store;
    struct comparison comparison;
    if (try_outputs(arguments) != 0 || program_itself(itself, sizeof itself) != 0) return -1;
    /* Other builds may know other suites than this one. */
    if (!gate->candidate && suite_find(gate->suite, NULL, suite) != 0) return -1;
    if (!gate->candidate) gate->candidate = itself;
    /* A stored run is in a database that is there, and so is what is gone on with. */
    bool reads = gate->baseline || gate->pinned || gate->resume;
    if (store_open(&store, arguments->db, reads ? STORE_CHANGE : STORE_WRITE) != 0) return -1;
    int code = gate_run(store, gate, &comparison);
    if (code >= 0) {
        fprintf(stderr, "assay gate: %s\n", assay_last_error());
    } else {
        code = finish(arguments, &comparison);
        comparison_release(&comparison);
    }
    store_close(store);
    return code;
}

static const struct command_option options[] = {
    {"base", VALUE_FILE, "PROGRAM", AT(gate.base), .help = "the assay to compare with"},
    {"cand", VALUE_FILE, "PROGRAM", AT(gate.candidate),
     .help = "the assay to judge (default: this one)"},
    {"baseline", VALUE_RUN, "NAME", AT(gate.baseline),
     .help = "the stored run to compare with: a named baseline, a label, an id, latest"},
    {"pinned", VALUE_RUN, "NAME", AT(gate.pinned),
     .help = "also say what the candidate comes to against that stored run, where many small steps "
             "add up; it decides nothing",
     .with = "base"},
    {"device", VALUE_DEVICE, "D", AT(device), .help = "the device of both programs (default auto)"},
    {"base-device", VALUE_DEVICE, "D", AT(gate.base_device), .help = "the device of the base alone",
     .with = "base"},
    {"cand-device", VALUE_DEVICE, "D", AT(gate.candidate_device),
     .help = "the device of the candidate alone"},
    {"filter", VALUE_VARIANT, "GLOB", AT(gate.filter), .help = "only these cases, as in assay run"},
    {"budget", VALUE_TEXT, "S", AT(gate.budget), .help = "sampling time per case (default 0.05)"},
    {"precision", VALUE_TEXT, "PCT", AT(gate.precision),
     .help = "stop when the median is known to +-PCT %"},
    {"threshold", VALUE_FRACTION, "PCT", AT(gate.threshold),
     .help = "the smallest change that counts (default: the suite's, else 2 where the SM clock "
             "stays the same, else 5)"},
    {"metric", VALUE_CHOICE, "NAME", AT(metric),
     .help = "time (default), or speedup: the ratio to the baseline", .choices = "time speedup"},
    {"least-judged", VALUE_FRACTION, "PCT", AT(gate.least_judged),
     .help = "end with 4 where less than this share of the base's cases was judged: PASS, "
             "IMPROVED, REGRESSED or SUSPECT (default 50)"},
    {"fail-on", VALUE_TEXT, "LIST", AT(fail_on),
     .help = "verdicts that end with 3: INCONCLUSIVE,UNSTABLE, or any",
     .choices = "any INCONCLUSIVE UNSTABLE"},
    {"no-extension", VALUE_NO_FLAG, .at = AT(gate.extend),
     .help = "no further rounds for what stays open", .with = "base"},
    {"resume", VALUE_FLAG, .at = AT(gate.resume),
     .help = "go on with the suite's last gate that did not end; the other options as before",
     .with = "base"},
    {"launches", VALUE_COUNT, "N", AT(gate.launches),
     .help = "launches of the candidate, with --baseline (default 6, at least 5)",
     .least = GATE_STORED_LAUNCHES, .most = 1000, .with = "baseline"},
    {"allow-stored-verdict", VALUE_FLAG, .at = AT(gate.allow_stored),
     .help = "let a stored base of two sessions make a case REGRESSED", .with = "baseline"},
    {"allow-simulated", VALUE_FLAG, .at = AT(gate.allow_simulated),
     .help = "gate a simulated device"},
    {"timeout", VALUE_COUNT, "S", AT(gate.timeout_s), .help = "the longest launch (default 3600)",
     .least = 1, .most = 1000000},
    {"seed", VALUE_SEED, "N", AT(gate.seed), .help = "the seed of all launches (default: random)"},
    {"all", VALUE_FLAG, .at = AT(all), .help = "list the unchanged cases on a terminal too"},
    OPTION_FORMAT("table md json html"),
    OPTION_OUTPUT("write it there"),
    {"junit", VALUE_FILE, "FILE", AT(junit), .help = "also as JUnit XML"},
    {"markdown", VALUE_FILE, "FILE", AT(markdown), .help = "also as Markdown"},
    {"json", VALUE_FILE, "FILE", AT(json), .help = "also as JSON"},
    {"annotations", VALUE_FLAG, .at = AT(annotations),
     .help = "also as GitHub annotations, on standard error"},
    OPTION_DB,
    {0},
};

const struct command cmd_gate = {
    .name = "gate",
    .summary = "is this build slower than that one, with known error rates",
    .options = options,
    .words = {{"SUITE", .kind = VALUE_SUITE}},
    .least = 1,
    .most = 1,
    .which = "which suite? (assay list suites)",
    .only = "one suite only",
    .synopsis = "SUITE --base PROGRAM [--cand PROGRAM] [options]\n"
                "SUITE --baseline NAME [--cand PROGRAM] [options]",
    .about = "Runs two builds in turns on one device: six launches of each screen every case,\n"
             "and ten or more fresh ones confirm what looks changed. A gate of unchanged code\n"
             "says REGRESSED in at most 5 % of its runs, for all its cases together, where\n"
             "rounds are independent and the builds lie alike in memory: the conditions are\n"
             "in docs/gate-statistics.md. With --baseline the base is a stored run of five\n"
             "launches or more, and a change is SUSPECT at most, which ends with 0 without\n"
             "--fail-on SUSPECT. At least half of the cases must be judged (--least-judged),\n"
             "every case that the suite names must be there, and of the two suites' thresholds\n"
             "the stricter counts.\n",
    .examples = "assay gate smoke --base ../main/build/assay --device host\n"
                "assay gate smoke --baseline release-1.2 --device host --markdown gate.md",
    .exit = "0 fine, 1 a case REGRESSED, 2 usage or set-up, or a program that changed, 3 undecided "
            "(by --fail-on), 4 nothing measured or comparable, too few cases judged "
            "(--least-judged) or one redefined, 5 a case of the candidate failed or is missing.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gate = {.threshold = NAN,
                                                   .least_judged = 0.5,
                                                   .extend = true,
                                                   .timeout_s = 3600,
                                                   .launches = STORED_LAUNCHES},
                                          .device = "auto",
                                          .format = "table",
                                          .metric = "time"},
    .check = check,
    .run = run,
};
