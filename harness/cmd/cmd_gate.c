/* cmd_gate.c - `assay gate`: is the candidate slower, with known error rates. */
#include <limits.h>
#include <string.h>

#include "cmd/gate_command.h"
#include "cmd/options.h"
#include "suite/suite_find.h"

struct arguments {
    struct given given;
    struct gate_command gating;
    struct over_options over; /* the words are files */
    bool is_over;
};

enum { STORED_LAUNCHES = 6 }; /* of the candidate against a stored run, unless told */

/* Nothing is launched: what says how has no meaning. */
static int check_over(struct arguments *arguments)
{
    static const char launching[] = "base cand null baseline pinned device cand-device base-device "
                                    "filter budget precision threshold max-time fail-fast timeout "
                                    "seed no-extension resume launches allow-stored-verdict load "
                                    "allow-load db";
    const char *wrong = option_given(&arguments->given, launching);
    if (wrong) return assay_error("--%s has no meaning with --over: those gates were made", wrong);
    if (arguments->given.count == 0) return assay_error("--over which files?");
    arguments->over.files = arguments->given.word;
    return gate_command_check(&arguments->gating, &arguments->given);
}

static int check(void *given)
{
    struct arguments *arguments = given;
    struct gate_options *gate = &arguments->gating.gate;
    if (arguments->is_over) return check_over(arguments);
    if (arguments->given.count == 0) return assay_error("which suite? (assay list suites)");
    if (arguments->given.count > 1) return assay_error("one suite only");
    if (!gate->base && !gate->baseline)
        return assay_error("compare with what? (--base PROGRAM or --baseline NAME)");
    if (gate->base && gate->baseline) return assay_error("--base or --baseline, not both");
    if ((gate->base && !gate->base[0]) || (gate->candidate && !gate->candidate[0]))
        return assay_error("--base and --cand want a program, not ''");
    if (gate->baseline && (gate->max_time_s || gate->fail_fast))
        return assay_error("--max-time and --fail-fast are for --base: against a stored run there "
                           "is one stage");
    gate->suite = arguments->given.word[0];
    const char *timing = strcmp(arguments->gating.metric, "time") != 0
                             ? "metric"
                             : option_given(&arguments->given,
                                            "null pinned resume max-time fail-fast twin threshold "
                                            "budget precision");
    if (gate->counts && timing)
        return assay_error("--counters takes no times: --%s says nothing to it", timing);
    return gate_command_check(&arguments->gating, given);
}

static int run(void *given)
{
    struct arguments *arguments = given;
    struct gate_options *gate = &arguments->gating.gate;
    char itself[PATH_MAX], suite[SUITE_MAX_PATH];
    if (arguments->is_over)
        return gate_command_try(&arguments->gating) == 0
                   ? gate_command_over(&arguments->gating, given, &arguments->over)
                   : -1;
    if (gate_command_try(&arguments->gating) != 0 || program_itself(itself, sizeof itself) != 0)
        return -1;
    /* Other builds may know other suites than this one. */
    if (!gate->candidate && suite_find(gate->suite, NULL, suite) != 0) return -1;
    if (!gate->candidate) gate->candidate = itself;
    return gate_command_run(&arguments->gating, given);
}

static const struct command_option options[] = {
    {"base", VALUE_FILE, "PROGRAM", AT(gating.gate.base), .help = "the assay to compare with"},
    {"cand", VALUE_FILE, "PROGRAM", AT(gating.gate.candidate),
     .help = "the assay to judge (default: this one)"},
    {"null", VALUE_FILE, "PROGRAM", AT(gating.gate.null),
     .help = "a second build of the base, which lies otherwise in memory: no floor is below what "
             "the two differ by",
     .with = "base"},
    {"baseline", VALUE_RUN, "NAME", AT(gating.gate.baseline),
     .help = "the stored run to compare with: a named baseline, a label, an id, latest"},
    {"pinned", VALUE_RUN, "NAME", AT(gating.gate.pinned),
     .help = "also say what the candidate comes to against that stored run, where many small steps "
             "add up; it decides nothing",
     .with = "base"},
    OPTIONS_GATE_DEVICES,
    {"base-device", VALUE_DEVICE, "D", AT(gating.gate.base_device),
     .help = "the device of the base alone", .with = "base"},
    OPTIONS_GATE_MEASURE,
    {"twin", VALUE_FLAG, .at = AT(gating.gate.twin), .help = TWIN_HELP, .with = "base"},
    OPTION_PROCESSES,
    {"no-extension", VALUE_NO_FLAG, .at = AT(gating.gate.extend),
     .help = "no further rounds for what stays open", .with = "base"},
    {"counters", VALUE_FLAG, .at = AT(gating.gate.counts),
     .help = "compare what launches count (warp instructions, local memory, launches, resident "
             "warps) in the place of times: quick, and on any GPU that is busy with other work",
     .with = "base"},
    {"no-proof", VALUE_NO_FLAG, .at = AT(gating.gate.proof), .help = NO_PROOF_HELP, .with = "base"},
    {"resume", VALUE_FLAG, .at = AT(gating.gate.resume),
     .help = "go on with the suite's last gate that did not end; the other options as before",
     .with = "base"},
    {"launches", VALUE_COUNT, "N", AT(gating.gate.launches),
     .help = "launches of the candidate, with --baseline (default 6, at least 5)",
     .least = GATE_STORED_LAUNCHES, .most = 1000, .with = "baseline"},
    {"allow-stored-verdict", VALUE_FLAG, .at = AT(gating.gate.allow_stored),
     .help = "let a stored base of two sessions make a case REGRESSED", .with = "baseline"},
    {"over", VALUE_FLAG, .at = AT(is_over),
     .help = "no gate, but one verdict over gates that nodes made: their databases, or one that "
             "they were merged into"},
    {"nodes", VALUE_COUNT, "N", AT(over.nodes), .help = "so many nodes are expected", .least = 1,
     .most = 1000000, .with = "over"},
    OPTIONS_OBJECT,
    OPTIONS_GATE_REPORT,
    {0},
};

const struct command cmd_gate = {
    .name = "gate",
    .summary = "is this build slower than that one, with known error rates",
    .options = options,
    .words = {{"SUITE", .kind = VALUE_SUITE}, {"FILE", .kind = VALUE_FILE}},
    .most = ANY_NUMBER,
    .synopsis = "SUITE --base PROGRAM [--cand PROGRAM] [options]\n"
                "SUITE --baseline NAME [--cand PROGRAM] [options]\n"
                "--over FILE... [--nodes N] [options]",
    .about = "Runs two builds in turns on one device: six launches of each screen every case,\n"
             "and ten or more fresh ones confirm what looks changed. A gate of unchanged code\n"
             "says REGRESSED in at most 5 % of its runs, for all its cases together, where\n"
             "rounds are independent and the builds lie alike in memory: the conditions are\n"
             "in docs/gate-statistics.md. With --baseline the base is a stored run of five\n"
             "launches or more, and a change is SUSPECT at most, which ends with 0 without\n"
             "--fail-on SUSPECT. At least half of the cases must be judged (--least-judged),\n"
             "every case that the suite names must be there, and of the two suites' thresholds\n"
             "the stricter counts.\n"
             "\n"
             "With --over each FILE is the database of a node that gated the same programs:\n"
             "one verdict holds for nodes like them. A node that disagrees is named, and so is\n"
             "one whose share is missing, which ends with 5.\n",
    .examples = "assay gate smoke --base ../main/build/assay --device host\n"
                "assay gate smoke --baseline release-1.2 --device host --markdown gate.md",
    .exit = "0 fine, 1 a case REGRESSED, 2 usage or set-up, or a program that changed, 3 undecided "
            "(by --fail-on), 4 nothing measured or comparable, too few cases judged "
            "(--least-judged) or one redefined, 5 a case of the candidate failed or is missing.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gating = {GATE_COMMAND_DEFAULTS,
                                                     .gate.launches = STORED_LAUNCHES}},
    .check = check,
    .run = run,
};
