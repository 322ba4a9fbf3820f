/* cmd_plot.c - `assay plot`: a picture of a run. */
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "plot/plot.h"

const char usage_plot[] =
    "usage: assay plot KIND [RUN] -o FILE.svg|png|pdf|- [--against RUN] [--operation NAME]\n"
    "                  [--case GLOB] [--only GLOB] [--metric NAME] [--keep-script] [--db FILE]\n"
    "\n"
    "Draw a run with gnuplot. docs/plots.md says how to read each KIND:\n"
    "\n"
    "  roofline  every case under the ceilings that were measured; arrows with --against\n"
    "  sweep     rate or time against size, a curve a variant; bars when there is one size\n"
    "  bars      time of each variant at one size\n"
    "  speedup   how many times faster than the baseline, with intervals\n"
    "  forest    what changed since the run --against, coloured by verdict\n"
    "  dist      how the samples of a case (or medians of its launches) are distributed\n"
    "  timeline  samples in the order taken, over clock, temperature and power\n"
    "  history   cases over all runs of the database, with changes and borders\n"
    "  pareto    quality against time, and what nothing beats in both\n"
    "  pipeline  stages of a batch, and how far they overlap\n"
    "  noise     how far unchanged code differs from itself (after assay calibrate)\n"
    "\n"
    "RUN is an id or its beginning, a label, latest (the default) or latest~N;\n"
    "FILE.sqlite:RUN takes it from another database. A history takes no RUN.\n"
    "\n"
    "  -o, --output FILE  where to; the ending says what; - draws in the terminal\n"
    "  --against RUN      the older run to compare with (roofline, forest)\n"
    "  --operation NAME   this operation only (sweep, bars: default the one with most sizes)\n"
    "  --case GLOB        on operation/variant: 'int8_quantize/rcp*'; or a case as printed\n"
    "  --only GLOB        on shape and temperature: '*n=50000000*cold'; for sweep and bars\n"
    "                     on what stays: 'input=bf16 hot'\n"
    "  --metric NAME      pareto: sqnr_db, mse, ...; sweep: bytes, ops or time\n"
    "  --keep-script      leave the data and the script beside FILE (.tsv, .gp)\n"
    "  --db FILE          the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay plot sweep latest -o sweep.svg\n"
    "         assay plot forest latest --against latest~1 -o changes.svg\n"
    "         assay plot dist latest --case 'int8_quantize/*' -o -\n"
    "\n"
    "Exit: 0 drawn, 2 usage or gnuplot failed, 4 the run has nothing of the kind.\n";

const struct option options_plot[] = {
    {"output", required_argument, NULL, 'o'},
    {"against", required_argument, NULL, 'a'},
    {"operation", required_argument, NULL, 'p'},
    {"case", required_argument, NULL, 'c'},
    {"only", required_argument, NULL, 'y'},
    {"metric", required_argument, NULL, 'm'},
    {"keep-script", no_argument, NULL, 'k'},
    {"db", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

struct arguments {
    const char *run, *against, *db;
    const struct plot_kind *kind;
    struct plot_request plot;
};

/* What the kind cannot use must not look as if it had been. */
static int parse_fits(const struct arguments *arguments)
{
    const struct plot_kind *kind = arguments->kind;
    if (arguments->run && !(kind->needs & PLOT_RUN))
        return assay_error("%s takes no run, so not '%.100s': it draws all runs of the database "
                           "(--db FILE); --case GLOB chooses the cases",
                           kind->name, arguments->run);
    if ((kind->needs & PLOT_AGAINST) && !arguments->against)
        return assay_error("%s compares two runs: --against RUN", kind->name);
    if (arguments->against && !(kind->needs & PLOT_TAKES_AGAINST))
        return assay_error("%s takes no --against", kind->name);
    if (arguments->plot.metric && !(kind->needs & PLOT_TAKES_METRIC))
        return assay_error("%s takes no --metric", kind->name);
    return 0;
}

/* KIND and RUN. */
static int parse_names(int argc, char **argv, struct arguments *arguments)
{
    if (optind >= argc) return assay_error("which kind of plot?");
    arguments->kind = plot_find(argv[optind++]);
    if (!arguments->kind) return -1;
    if (optind < argc) arguments->run = argv[optind++];
    if (optind < argc) return assay_error("one run only, not '%s' too", argv[optind]);
    if (!arguments->plot.output) return assay_error("where to? -o FILE.svg");
    return parse_fits(arguments);
}

static void take(struct arguments *arguments, int option)
{
    struct plot_request *plot = &arguments->plot;
    const char **const places[] = {
        ['o'] = &plot->output,  ['p'] = &plot->operation, ['c'] = &plot->cases,
        ['y'] = &plot->only,    ['m'] = &plot->metric,    ['a'] = &arguments->against,
        ['d'] = &arguments->db,
    };
    if (option == 'k')
        plot->keep_script = true;
    else
        *places[option] = optarg;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    optind = 0; /* start anew: main has parsed its own */
    while ((option = getopt_long(argc, argv, ":o:", options_plot, NULL)) != -1) {
        if (option == 'h') return 1;
        if (option == '?' || option == ':') return option_misused(argv, option, options_plot);
        take(arguments, option);
    }
    return parse_names(argc, argv, arguments);
}

/* The database that RUN is in. */
static int open_store(struct store **store, const struct arguments *arguments)
{
    char path[PATH_MAX];
    const char *name;
    if (store_split_run(arguments->run ? arguments->run : "latest", command_database(arguments->db),
                        path, sizeof path, &name))
        return -1;
    return store_open(store, path, STORE_READ);
}

/* The run that was named; else the newest. */
static int read_run(struct stored_run *run, const struct arguments *arguments)
{
    char id[STORE_ID];
    const char *name = arguments->run;
    if (!name && arguments->kind->needs & PLOT_OF_GATES) {
        if (store_find_newest(arguments->plot.store, id)) return -1;
        name = id;
    }
    return run_choice_read(run, name, arguments->db);
}

/* Read what the kind needs and draw it. */
static enum plot_outcome draw(struct arguments *arguments)
{
    static const struct compare_options as_compare_does = {0};
    struct stored_run run = {0}, against = {0};
    struct comparison comparison = {0};
    struct plot_request *plot = &arguments->plot;
    unsigned needs = arguments->kind->needs;
    enum plot_outcome outcome = PLOT_FAILED;
    if ((needs & PLOT_STORE) && open_store(&plot->store, arguments)) goto out;
    if (needs & PLOT_RUN) {
        if (read_run(&run, arguments)) goto out;
        plot->run = &run;
    }
    if (needs & PLOT_AGAINST) {
        if (run_choice_compare(&comparison, arguments->against, arguments->run, arguments->db,
                               &as_compare_does))
            goto out;
        plot->comparison = &comparison;
    } else if (arguments->against) {
        if (run_choice_read(&against, arguments->against, arguments->db)) goto out;
        plot->against = &against;
    }
    plot->columns = terminal_columns();
    outcome = plot_draw(arguments->kind, plot);
out:
    comparison_release(&comparison);
    stored_run_release(&against);
    stored_run_release(&run);
    if (plot->store) store_close(plot->store);
    return outcome;
}

int cmd_plot(int argc, char **argv)
{
    static const int exit_codes[] = {
        [PLOT_DRAWN] = EXIT_FINE, [PLOT_FAILED] = EXIT_USAGE, [PLOT_NOTHING] = EXIT_NOTHING};
    struct arguments arguments = {0};
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_plot, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    enum plot_outcome outcome = draw(&arguments);
    if (outcome != PLOT_DRAWN) command_failed(argv[0]);
    return exit_codes[outcome];
}
