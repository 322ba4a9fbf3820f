/* cmd_calibrate.c - `assay calibrate`: how far unchanged code differs from itself. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/options.h"
#include "gate/gate_calibrate.h"
#include "show/show.h"
#include "store/store_central.h"

enum { MOST_BLOCKS = 1000 };

struct arguments {
    struct given given;
    struct gate_options gate;
    struct calibrate_options calibrate;
    const char *device, *db, *format, *metric;
    bool show;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    struct calibrate_options *calibrate = &arguments->calibrate;
    const char *suite = arguments->given.word[0];
    const char *of_measuring =
        option_given(given, "blocks rounds limit resume device filter budget "
                            "precision metric timeout allow-simulated");
    if (arguments->show && suite)
        return assay_error("--show has all that is known: not '%s'", suite);
    if (arguments->show && of_measuring)
        return assay_error("--show measures nothing: not --%s", of_measuring);
    if (!arguments->show && !suite) return assay_error("which suite? (assay list suites)");
    if (calibrate->blocks == 0) calibrate->blocks = calibrate->limit_s ? MOST_BLOCKS : 1;
    arguments->gate.suite = suite;
    arguments->gate.speedup = strcmp(arguments->metric, "speedup") == 0;
    return gate_refuse_all(arguments->device);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* What there is now, also after a failure. */
static void tell(const struct calibration *made)
{
    if (made->pairs == 0) return;
    fprintf(stderr, "assay calibrate: %d pair%s of launches", made->pairs, plural(made->pairs));
    if (made->resumed > 0) fprintf(stderr, ", %d of them before", made->resumed);
    if (made->blocks > 0)
        fprintf(stderr, "; %d block%s of noise, %d case%s", made->blocks, plural(made->blocks),
                made->cases, plural(made->cases));
    if (made->pair_s > 0) fprintf(stderr, "; a pair took %.3g s", made->pair_s);
    fputc('\n', stderr);
}

static int show(const struct arguments *arguments)
{
    struct store *store;
    char path[STORE_SHOWN];
    if (store_open(&store, arguments->db, STORE_READ) != 0) return -1;
    int shown = noise_show(stdout, store, arguments->format, terminal_columns());
    store_close(store);
    if (shown > 0)
        fprintf(stderr, "assay calibrate: %s: no noise is stored in it\n",
                store_shown(arguments->db, path));
    return shown > 0 ? EXIT_NOTHING : shown;
}

static int run(void *given)
{
    struct arguments *arguments = given;
    char itself[PATH_MAX];
    struct store *store;
    struct calibration made;
    if (arguments->show) return show(arguments);
    if (program_itself(itself, sizeof itself) != 0) return -1;
    arguments->gate.base = arguments->gate.candidate = itself;
    arguments->gate.base_objects = arguments->gate.candidate_objects = arguments->given.object;
    arguments->gate.allow_load = arguments->given.allow_load;
    arguments->gate.base_device = arguments->gate.candidate_device = arguments->device;
    if (store_open(&store, arguments->db, STORE_WRITE) != 0) return -1;
    int code = calibrate_run(store, &arguments->gate, &arguments->calibrate, &made);
    tell(&made);
    if (code != EXIT_FINE) fprintf(stderr, "assay calibrate: %s\n", assay_last_error());
    store_close(store);
    return code;
}

static const struct command_option options[] = {
    {"blocks", VALUE_COUNT, "N", AT(calibrate.blocks),
     .help = "how many blocks (default 1; with --limit all that there is time for)", .least = 1,
     .most = MOST_BLOCKS},
    {"rounds", VALUE_COUNT, "N", AT(calibrate.rounds),
     .help = "pairs of launches per block (default 10, at least 5)", .least = 5, .most = 64},
    OPTION_NUMBER("limit", "S", calibrate.limit_s,
                  "end in about this many seconds; five pairs or more make a block"),
    {"resume", VALUE_FLAG, .at = AT(calibrate.resume),
     .help = "go on with the suite's last calibration"},
    {"device", VALUE_DEVICE, "D", AT(device), .help = "auto (default), cuda:N, host"},
    OPTION_FILTER(VALUE_VARIANT, gate.filter),
    {"budget", VALUE_TEXT, "S", AT(gate.budget), .help = "as in assay gate"},
    {"precision", VALUE_TEXT, "PCT", AT(gate.precision), .help = "as in assay gate"},
    OPTION_METRIC(metric, "as in assay gate"),
    OPTION_NUMBER("timeout", "S", gate.timeout_s, "the longest launch (default 3600)"),
    {"allow-simulated", VALUE_FLAG, .at = AT(gate.allow_simulated),
     .help = "also a simulated device"},
    OPTIONS_OBJECT,
    {"show", VALUE_FLAG, .at = AT(show),
     .help = "print what the database knows, by how long cases take; measures nothing"},
    {"format", VALUE_CHOICE, "NAME", AT(format),
     .help = "how --show prints: table (default), md or json", .choices = "table md json",
     .with = "show"},
    OPTION_DB,
    {0},
};

const struct command cmd_calibrate = {
    .name = "calibrate",
    .summary = "how far unchanged code differs from itself",
    .options = options,
    .words = {{"SUITE", .kind = VALUE_SUITE}},
    .most = 1,
    .only = "one suite only",
    .synopsis = "SUITE [options]\n--show [--format NAME] [--db FILE]",
    .about = "Launches this program against itself, in turns, and stores how far its times\n"
             "differ: the noise floor of `assay gate` and `assay compare`. A floor of a case's\n"
             "own needs twenty blocks from three sessions (calls of this command); before that\n"
             "it is estimated from cases that take as long. Every launch is kept, whatever\n"
             "comes after.\n",
    .examples = "assay calibrate smoke --device host\n"
                "assay calibrate smoke --blocks 2 --limit 120\n"
                "assay calibrate smoke --blocks 2 --resume\n"
                "assay calibrate --show --format md",
    .exit = "0 a block or more is stored, 2 usage or set-up, 4 too little for a block (or to "
            "show), 5 a launch failed, 130 interrupted; what was measured before is kept.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gate = {.threshold = NAN, .timeout_s = 3600},
                                          .calibrate = {.rounds = 10},
                                          .device = "auto",
                                          .metric = "time",
                                          .format = "table"},
    .check = check,
    .run = run,
};
