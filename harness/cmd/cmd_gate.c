/* cmd_gate.c - `assay gate`: is the candidate slower, with known error rates. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/report_options.h"
#include "gate/gate_run.h"
#include "show/comparison_formats.h"
#include "show/comparison_words.h"
#include "suite/suite_find.h"

const char usage_gate[] =
    "usage: assay gate SUITE --base PROGRAM [--cand PROGRAM] [options]\n"
    "       assay gate SUITE --baseline NAME [--cand PROGRAM] [options]\n"
    "\n"
    "Runs two builds in turns on one device: six launches of each screen every case, ten\n"
    "or more fresh ones confirm what looks changed. A gate of unchanged code says\n"
    "REGRESSED in at most 5 % of its runs, whatever the number of cases (docs/gate.md).\n"
    "With --baseline the base is a stored run of five launches or more, and a change is\n"
    "SUSPECT at most, which ends with 0 without --fail-on SUSPECT.\n"
    "\n"
    "  --base PROGRAM      the assay to compare with\n"
    "  --cand PROGRAM      the assay to judge (default: this one)\n"
    "  --baseline NAME     a run: a named baseline, a label, an id, latest\n"
    "  --pinned NAME       also say what the candidate comes to against that stored run,\n"
    "                      where many small steps add up; it decides nothing\n"
    "  --device D          of both programs (default auto)\n"
    "  --base-device D     of the base alone; --cand-device D of the candidate\n"
    "  --filter GLOB       only these cases, as in assay run\n"
    "  --budget S          sampling time a case (default 0.05); --precision PCT: when to stop\n"
    "  --threshold PCT     smallest change that counts (default: the suite's, else 2\n"
    "                      where the SM clock stays the same, else 5)\n"
    "  --metric M          time (default), or speedup: the ratio to the baseline\n"
    "  --fail-on LIST      verdicts that end with 3: INCONCLUSIVE,UNSTABLE, or any\n"
    "  --no-extension      no further rounds for what stays open\n"
    "  --resume            go on with the suite's last gate that did not end, with --base; the\n"
    "                      other options as before\n"
    "  --launches N        of the candidate, with --baseline (default 6, at least 5)\n"
    "  --allow-stored-verdict   let a stored base of two sessions make a case REGRESSED\n"
    "  --allow-simulated   gate a simulated device\n"
    "  --timeout S         longest launch (default 3600)\n"
    "  --seed N            of all launches (default: random)\n"
    "  --format F          table (default), md, json or html\n"
    "  -o, --output FILE   write that there\n"
    "  --junit FILE        also as JUnit XML; --markdown FILE as Markdown; --json FILE\n"
    "  --annotations       also as GitHub annotations, on standard error\n"
    "  --db FILE           the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay gate smoke --base ../main/build/assay --device host\n"
    "         assay gate smoke --baseline release-1.2 --device host --markdown gate.md\n"
    "\n"
    "Exit: 0 fine, 1 a case REGRESSED, 2 usage or set-up, 3 undecided (by --fail-on),\n"
    "4 nothing measured or comparable, 5 a case of the candidate failed or is missing.\n";

struct arguments {
    struct gate_options gate;
    struct comparison_options show;
    const char *device, *db, *output, *junit, *markdown, *json;
    bool annotations;
};

enum { STORED_LAUNCHES = 6 }; /* of the candidate against a stored run, unless told */

enum {
    OPT_BASE = 256,
    OPT_CAND,
    OPT_BASELINE,
    OPT_PINNED,
    OPT_DEVICE,
    OPT_BASE_DEVICE,
    OPT_CAND_DEVICE,
    OPT_FILTER,
    OPT_BUDGET,
    OPT_PRECISION,
    OPT_THRESHOLD,
    OPT_METRIC,
    OPT_FAIL_ON,
    OPT_NO_EXTENSION,
    OPT_RESUME,
    OPT_LAUNCHES,
    OPT_ALLOW_STORED,
    OPT_ALLOW_SIMULATED,
    OPT_TIMEOUT,
    OPT_SEED,
    OPT_FORMAT,
    OPT_JUNIT,
    OPT_MARKDOWN,
    OPT_JSON,
    OPT_ANNOTATIONS,
    OPT_DB,
};

const struct option options_gate[] = {
    {"base", required_argument, NULL, OPT_BASE},
    {"cand", required_argument, NULL, OPT_CAND},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"pinned", required_argument, NULL, OPT_PINNED},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"base-device", required_argument, NULL, OPT_BASE_DEVICE},
    {"cand-device", required_argument, NULL, OPT_CAND_DEVICE},
    {"filter", required_argument, NULL, OPT_FILTER},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"precision", required_argument, NULL, OPT_PRECISION},
    {"threshold", required_argument, NULL, OPT_THRESHOLD},
    {"metric", required_argument, NULL, OPT_METRIC},
    {"fail-on", required_argument, NULL, OPT_FAIL_ON},
    {"no-extension", no_argument, NULL, OPT_NO_EXTENSION},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"launches", required_argument, NULL, OPT_LAUNCHES},
    {"allow-stored-verdict", no_argument, NULL, OPT_ALLOW_STORED},
    {"allow-simulated", no_argument, NULL, OPT_ALLOW_SIMULATED},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"output", required_argument, NULL, 'o'},
    {"junit", required_argument, NULL, OPT_JUNIT},
    {"markdown", required_argument, NULL, OPT_MARKDOWN},
    {"json", required_argument, NULL, OPT_JSON},
    {"annotations", no_argument, NULL, OPT_ANNOTATIONS},
    {"db", required_argument, NULL, OPT_DB},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* Options that are kept as they were typed. */
static const char **plain_option(struct arguments *arguments, int option)
{
    struct gate_options *gate = &arguments->gate;
    switch (option) {
    case OPT_BASE:
        return &gate->base;
    case OPT_CAND:
        return &gate->candidate;
    case OPT_BASELINE:
        return &gate->baseline;
    case OPT_PINNED:
        return &gate->pinned;
    case OPT_DEVICE:
        return &arguments->device;
    case OPT_BASE_DEVICE:
        return &gate->base_device;
    case OPT_CAND_DEVICE:
        return &gate->candidate_device;
    case OPT_FILTER:
        return &gate->filter;
    case OPT_BUDGET:
        return &gate->budget;
    case OPT_PRECISION:
        return &gate->precision;
    case OPT_FORMAT:
        return &arguments->show.format;
    case 'o':
        return &arguments->output;
    case OPT_JUNIT:
        return &arguments->junit;
    case OPT_MARKDOWN:
        return &arguments->markdown;
    case OPT_JSON:
        return &arguments->json;
    case OPT_DB:
        return &arguments->db;
    default:
        return NULL;
    }
}

static int take(struct arguments *arguments, int option)
{
    struct gate_options *gate = &arguments->gate;
    const char **plain = plain_option(arguments, option);
    if (plain) *plain = optarg;
    switch (option) {
    case OPT_THRESHOLD:
        return option_percent("threshold", optarg, &gate->threshold);
    case OPT_METRIC:
        return option_metric(optarg, &gate->speedup);
    case OPT_FAIL_ON:
        return verdict_set_parse(optarg, &gate->fail_on);
    case OPT_LAUNCHES:
        return option_count("launches", optarg, GATE_STORED_LAUNCHES, 1000, &gate->launches);
    case OPT_TIMEOUT:
        return option_count("timeout", optarg, 1, 1000000, &gate->timeout_s);
    case OPT_SEED:
        gate->has_seed = true;
        return option_seed(optarg, &gate->seed);
    case OPT_NO_EXTENSION:
        gate->extend = false;
        return 0;
    case OPT_RESUME:
        gate->resume = true;
        return 0;
    case OPT_ALLOW_STORED:
        gate->allow_stored = true;
        return 0;
    case OPT_ALLOW_SIMULATED:
        gate->allow_simulated = true;
        return 0;
    case OPT_ANNOTATIONS:
        arguments->annotations = true;
        return 0;
    default:
        return 0;
    }
}

/* What the options mean together. */
static int check(struct arguments *arguments)
{
    struct gate_options *gate = &arguments->gate;
    if (!gate->base && !gate->baseline)
        return assay_error("compare with what? (--base PROGRAM or --baseline NAME)");
    if (gate->base && gate->baseline) return assay_error("--base or --baseline, not both");
    if (gate->base && gate->launches) return assay_error("--launches is for --baseline alone");
    if (gate->baseline && gate->pinned) return assay_error("--pinned is for --base alone");
    if (gate->baseline && gate->resume) return assay_error("--resume is for --base alone");
    if (gate->baseline && gate->base_device)
        return assay_error("--base-device is for --base alone");
    if (gate->baseline && !gate->extend) return assay_error("--no-extension is for --base alone");
    if (gate->base && gate->allow_stored)
        return assay_error("--allow-stored-verdict is for --baseline alone");
    if ((gate->base && !gate->base[0]) || (gate->candidate && !gate->candidate[0]))
        return assay_error("--base and --cand want a program, not ''");
    if (!gate->base_device) gate->base_device = arguments->device;
    if (!gate->candidate_device) gate->candidate_device = arguments->device;
    if (!gate->launches) gate->launches = STORED_LAUNCHES;
    bool simulated = strncmp(gate->candidate_device, "sim", 3) == 0 ||
                     (gate->base && strncmp(gate->base_device, "sim", 3) == 0);
    if (simulated && !gate->allow_simulated)
        return assay_error("a gate of a simulated device proves nothing (--allow-simulated)");
    return comparison_knows_format(arguments->show.format) ? 0 : -1;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":o:", options_gate, NULL)) != -1) {
        if (option == 'h') return 1;
        if (option == '?' || option == ':') return option_misused(argv, option, options_gate);
        if (take(arguments, option) != 0) return -1;
    }
    if (optind == argc) return assay_error("which suite? (assay list suites)");
    if (argc - optind > 1) return assay_error("one suite only, not '%s' too", argv[optind + 1]);
    arguments->gate.suite = argv[optind];
    return check(arguments);
}

static int write_file(const char *path, const struct comparison *comparison,
                      const struct comparison_options *show)
{
    struct out_file file;
    if (out_file_open(&file, path) != 0) return -1;
    return out_file_close(&file, comparison_write(file.stream, comparison, show));
}

static int write_junit(const char *path, const struct comparison *comparison)
{
    struct out_file file;
    if (out_file_open(&file, path) != 0) return -1;
    return out_file_close(&file, comparison_junit(file.stream, comparison));
}

static int report(const struct arguments *arguments, const struct comparison *comparison)
{
    const struct comparison_options md = {.format = "md"}, json = {.format = "json"};
    struct comparison_options show = arguments->show;
    if (arguments->output) show.colour = false;
    if (write_file(arguments->output, comparison, &show) != 0) return -1;
    if (arguments->junit && write_junit(arguments->junit, comparison) != 0) return -1;
    if (arguments->markdown && write_file(arguments->markdown, comparison, &md) != 0) return -1;
    if (arguments->json && write_file(arguments->json, comparison, &json) != 0) return -1;
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

static void tell_nothing(const struct comparison *comparison)
{
    char why[WORDS_LINE];
    nothing_text(comparison, why);
    fprintf(stderr, "assay gate: nothing could be compared: %s\n", why);
}

int cmd_gate(int argc, char **argv)
{
    char itself[PATH_MAX];
    struct store *store;
    struct comparison comparison;
    struct arguments arguments = {
        .gate = {.threshold = NAN, .extend = true, .timeout_s = 3600},
        .show = {.format = "table", .colour = terminal_colour(), .width = terminal_columns()},
        .device = "auto",
    };
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_gate, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (try_outputs(&arguments) != 0) return command_failed(argv[0]);
    if (program_itself(itself, sizeof itself) != 0) return command_failed(argv[0]);
    /* Other builds may know other suites than this one. */
    char suite[SUITE_MAX_PATH];
    if (!arguments.gate.candidate && suite_find(arguments.gate.suite, NULL, suite) != 0)
        return command_failed(argv[0]);
    if (!arguments.gate.candidate) arguments.gate.candidate = itself;
    /* A stored run is in a database that is there, and so is what is gone on with. */
    bool reads = arguments.gate.baseline || arguments.gate.pinned || arguments.gate.resume;
    if (store_open(&store, command_database(arguments.db), reads ? STORE_CHANGE : STORE_WRITE) != 0)
        return command_failed(argv[0]);
    int code = gate_run(store, &arguments.gate, &comparison);
    if (code >= 0) {
        command_failed(argv[0]);
    } else {
        code = comparison.exit;
        if (code == EXIT_NOTHING) tell_nothing(&comparison);
        if (report(&arguments, &comparison) != 0) code = command_failed(argv[0]);
        comparison_release(&comparison);
    }
    store_close(store);
    return code;
}
