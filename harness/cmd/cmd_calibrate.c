/* cmd_calibrate.c - `assay calibrate`: how far unchanged code differs from itself. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/report_options.h"
#include "gate/gate_calibrate.h"
#include "show/noise_show.h"

const char usage_calibrate[] =
    "usage: assay calibrate SUITE [options]\n"
    "       assay calibrate --show [--format F] [--db FILE]\n"
    "\n"
    "Launches this program against itself, in turns, and stores how far its times\n"
    "differ: the noise floor of `assay gate` and `assay compare`. A floor of a case's own\n"
    "needs twenty blocks from three sessions (calls of this command); before that it is\n"
    "estimated from cases that take as long. Every launch is kept, whatever comes after.\n"
    "\n"
    "  --blocks N    how many blocks (default 1, with --limit all there is time for)\n"
    "  --rounds N    pairs of launches a block (default 10, at least 5)\n"
    "  --limit S     end in about so many seconds; five pairs or more make a block\n"
    "  --resume      go on with the suite's last calibration\n"
    "  --device D    auto (default), cuda:N, host\n"
    "  --filter GLOB, --budget S, --precision PCT, --metric M   as in assay gate\n"
    "  --timeout S   longest launch (default 3600)\n"
    "  --allow-simulated   also a simulated device\n"
    "  --show        what the database knows, by how long cases take; measures nothing\n"
    "  --format F    of --show: table (default), md or json\n"
    "  --db FILE     the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay calibrate smoke --device host\n"
    "         assay calibrate smoke --blocks 2 --limit 120\n"
    "         assay calibrate smoke --blocks 2 --resume\n"
    "         assay calibrate --show --format md\n"
    "\n"
    "Exit: 0 a block or more is stored, 2 usage or set-up, 4 too little for a block (or\n"
    "to show), 5 a launch failed, 130 interrupted; what was measured before is kept.\n";

const struct option options_calibrate[] = {
    {"blocks", required_argument, NULL, 'n'}, {"rounds", required_argument, NULL, 'r'},
    {"device", required_argument, NULL, 'v'}, {"filter", required_argument, NULL, 'f'},
    {"budget", required_argument, NULL, 'b'}, {"precision", required_argument, NULL, 'p'},
    {"metric", required_argument, NULL, 'm'}, {"timeout", required_argument, NULL, 't'},
    {"db", required_argument, NULL, 'd'},     {"allow-simulated", no_argument, NULL, 's'},
    {"limit", required_argument, NULL, 'l'},  {"resume", no_argument, NULL, 'e'},
    {"show", no_argument, NULL, 'w'},         {"format", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},         {0},
};

enum { MOST_BLOCKS = 1000 };

struct arguments {
    struct gate_options gate;
    struct calibrate_options calibrate;
    const char *device, *db, *format;
    const char *of_measuring; /* an option that --show has no use for; NULL: none was given */
    bool show;
};

static int take(struct arguments *arguments, int option)
{
    struct gate_options *gate = &arguments->gate;
    switch (option) {
    case 'n':
        return option_count("blocks", optarg, 1, MOST_BLOCKS, &arguments->calibrate.blocks);
    case 'r':
        return option_count("rounds", optarg, 5, 64, &arguments->calibrate.rounds);
    case 't':
        return option_count("timeout", optarg, 1, 1000000, &gate->timeout_s);
    case 'm':
        return option_metric(optarg, &gate->speedup);
    case 'v':
        arguments->device = optarg;
        return 0;
    case 'f':
        gate->filter = optarg;
        return 0;
    case 'b':
        gate->budget = optarg;
        return 0;
    case 'p':
        gate->precision = optarg;
        return 0;
    case 'l':
        return option_count("limit", optarg, 1, 1000000, &arguments->calibrate.limit_s);
    case 'w':
        arguments->show = true;
        return 0;
    case 'o':
        arguments->format = optarg;
        return noise_show_format(optarg);
    case 'e':
        arguments->calibrate.resume = true;
        return 0;
    case 's':
        gate->allow_simulated = true;
        return 0;
    default:
        arguments->db = optarg;
        return 0;
    }
}

static int check_show(const struct arguments *arguments, const char *word)
{
    if (word) return assay_error("--show has all that is known: not '%s'", word);
    if (arguments->of_measuring)
        return assay_error("--show measures nothing: not --%s", arguments->of_measuring);
    return 0;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option, index = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_calibrate, &index)) != -1) {
        if (option == 'h') return 1;
        if (option == '?' || option == ':') return option_misused(argv, option, options_calibrate);
        if (!strchr("wod", option)) arguments->of_measuring = options_calibrate[index].name;
        if (take(arguments, option) != 0) return -1;
    }
    if (arguments->show) return check_show(arguments, argv[optind]);
    if (arguments->format) return assay_error("--format is for --show alone");
    if (arguments->calibrate.blocks == 0)
        arguments->calibrate.blocks = arguments->calibrate.limit_s ? MOST_BLOCKS : 1;
    if (optind == argc) return assay_error("which suite? (assay list suites)");
    if (argc - optind > 1) return assay_error("one suite only, not '%s' too", argv[optind + 1]);
    arguments->gate.suite = argv[optind];
    return 0;
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
    if (made->resumed > 0) fprintf(stderr, ", of which %d before", made->resumed);
    if (made->blocks > 0)
        fprintf(stderr, "; %d block%s of noise, %d case%s", made->blocks, plural(made->blocks),
                made->cases, plural(made->cases));
    if (made->pair_s > 0) fprintf(stderr, "; a pair took %.3g s", made->pair_s);
    fputc('\n', stderr);
}

static int show(const char *db, const char *format)
{
    struct store *store;
    const char *path = command_database(db);
    if (store_open(&store, path, STORE_READ) != 0) return command_failed("calibrate");
    int shown = noise_show(stdout, store, format ? format : "table");
    store_close(store);
    if (shown < 0) return command_failed("calibrate");
    if (shown > 0) fprintf(stderr, "assay calibrate: %s: no noise is stored in it\n", path);
    return shown > 0 ? EXIT_NOTHING : EXIT_FINE;
}

int cmd_calibrate(int argc, char **argv)
{
    char itself[PATH_MAX];
    struct store *store;
    struct calibration made;
    struct arguments arguments = {.gate = {.threshold = NAN, .timeout_s = 3600},
                                  .calibrate = {.rounds = 10},
                                  .device = "auto"};
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_calibrate, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (arguments.show) return show(arguments.db, arguments.format);
    if (program_itself(itself, sizeof itself) != 0) return command_failed(argv[0]);
    arguments.gate.base = arguments.gate.candidate = itself;
    arguments.gate.base_device = arguments.gate.candidate_device = arguments.device;
    if (store_open(&store, command_database(arguments.db), STORE_WRITE) != 0)
        return command_failed(argv[0]);
    int code = calibrate_run(store, &arguments.gate, &arguments.calibrate, &made);
    tell(&made);
    if (code != EXIT_FINE) command_failed(argv[0]);
    store_close(store);
    return code;
}
