/* cmd_plot.c - `assay plot`: a picture of a run. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "plot/plot.h"

struct arguments {
    struct given given;
    const char *run, *against, *db;
    const struct plot_kind *kind;
    struct plot_request plot;
};

/* What the kind cannot use must not look as if it had been. */
static int check_fits(const struct arguments *arguments)
{
    const struct plot_kind *kind = arguments->kind;
    if (arguments->run && !(kind->needs & PLOT_RUN))
        return assay_error("%s takes no run, so not '%.100s': it draws all runs of the database "
                           "(--db FILE); --filter GLOB chooses the cases",
                           kind->name, arguments->run);
    if ((kind->needs & PLOT_AGAINST) && !arguments->against)
        return assay_error("%s compares two runs: --against RUN", kind->name);
    if (arguments->against && !(kind->needs & PLOT_TAKES_AGAINST))
        return assay_error("%s takes no --against", kind->name);
    if (arguments->plot.metric && !(kind->needs & PLOT_TAKES_METRIC))
        return assay_error("%s takes no --metric", kind->name);
    return 0;
}

static int check(void *given)
{
    struct arguments *arguments = given;
    arguments->kind = plot_find(arguments->given.word[0]);
    arguments->run = arguments->given.word[1];
    if (!arguments->kind) return -1;
    const struct plot_request *plot = &arguments->plot;
    if (!plot->output) return assay_error("where to? -o FILE.svg");
    if (!strcmp(plot->output, "-") && (plot->width_px || plot->theme))
        return assay_error("a plot in the terminal takes no --%s",
                           plot->width_px ? "width" : "theme");
    return check_fits(arguments);
}

static int open_store(struct store **store, const struct arguments *arguments)
{
    char path[PATH_MAX];
    const char *name;
    if (store_split_run(arguments->run ? arguments->run : "latest", arguments->db, path,
                        sizeof path, &name))
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
    return run_choice_read(run, false, name, arguments->db);
}

static enum plot_outcome draw(struct arguments *arguments)
{
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
                               NULL))
            goto out;
        plot->comparison = &comparison;
    } else if (arguments->against) {
        if (run_choice_read(&against, false, arguments->against, arguments->db)) goto out;
        plot->against = &against;
    }
    plot->columns = terminal_width(stdout, 100); /* a drawing needs an end */
    outcome = plot_draw(arguments->kind, plot);
out:
    comparison_release(&comparison);
    stored_run_release(&against);
    stored_run_release(&run);
    if (plot->store) store_close(plot->store);
    return outcome;
}

static int run(void *given)
{
    static const int codes[] = {
        [PLOT_DRAWN] = EXIT_FINE, [PLOT_FAILED] = EXIT_USAGE, [PLOT_NOTHING] = EXIT_NOTHING};
    enum plot_outcome outcome = draw(given);
    if (outcome != PLOT_DRAWN) fprintf(stderr, "assay plot: %s\n", assay_last_error());
    return codes[outcome];
}

static const struct command_option options[] = {
    {"output", VALUE_FILE, "FILE", AT(plot.output),
     .help = "where to; the ending says what; - draws in the terminal", .letter = 'o'},
    {"against", VALUE_RUN, "RUN", AT(against),
     .help = "the older run to compare with (roofline, forest)"},
    {"operation", VALUE_OPERATION, "NAME", AT(plot.operation),
     .help = "this operation only (sweep, bars: default the one with most sizes)"},
    OPTION_FILTER(VALUE_CASE, plot.cases),
    {"case", VALUE_CASE, "GLOB", AT(plot.cases), .help = "the same as --filter"},
    {"only", VALUE_TEXT, "GLOB", AT(plot.only),
     .help = "on shape and temperature: '*n=50000000*cold'; for sweep and bars on what stays: "
             "'input=bf16 hot'"},
    {"metric", VALUE_TEXT, "NAME", AT(plot.metric),
     .help = "pareto: sqnr_db, mse, ...; sweep: bytes, ops or time",
     .choices = "bytes ops time mse sqnr_db"},
    {"title", VALUE_TEXT, "TEXT", AT(plot.title), .help = "instead of the kind's own title"},
    {"width", VALUE_COUNT, "PIXELS", AT(plot.width_px),
     .help = "of the picture, from 800 to 4000 (default: as the kind needs)", .least = 800,
     .most = 4000},
    {"theme", VALUE_CHOICE, "NAME", AT(plot.theme), .help = "light or dark (default light)",
     .choices = "light dark"},
    {"keep-script", VALUE_FLAG, .at = AT(plot.keep_script),
     .help = "leave the data and the script beside FILE (.tsv, .gp)"},
    OPTION_DB,
    {0},
};

const struct command cmd_plot = {
    .name = "plot",
    .summary = "draw a run with gnuplot",
    .options = options,
    .words = {{"KIND", .kind = VALUE_PLOT}, {"RUN", .kind = VALUE_RUN_TO_PLOT}},
    .least = 1,
    .most = 2,
    .which = "which kind of plot?",
    .only = "one run only",
    .synopsis = "KIND [RUN] -o FILE.svg|png|pdf|- [options]",
    .about = "Draws a run with gnuplot. docs/plots.md says how to read each KIND:\n"
             "\n"
             "  roofline  every case under the ceilings that were measured; arrows with\n"
             "            --against\n"
             "  sweep     rate or time against size, a curve for each variant; bars when\n"
             "            there is one size\n"
             "  bars      time of each variant at one size\n"
             "  speedup   how many times faster than the baseline, with intervals\n"
             "  forest    what changed since the run --against, coloured by verdict\n"
             "  dist      how the samples of a case (or medians of its launches) are\n"
             "            distributed\n"
             "  timeline  samples in the order taken, over clock, temperature and power\n"
             "  history   cases over all runs of the database, with changes and borders\n"
             "  pareto    quality against time, and what nothing beats in both\n"
             "  pipeline  stages of a batch, and how far they overlap\n"
             "  noise     how far unchanged code differs from itself (after assay calibrate)\n"
             "\n" ABOUT_RUN "A history takes no RUN.\n",
    .examples = "assay plot sweep latest -o sweep.svg\n"
                "assay plot forest latest --against latest~1 -o changes.svg\n"
                "assay plot dist latest --filter 'int8_quantize/*' -o -",
    .exit = "0 drawn, 2 usage or gnuplot failed, 4 the run has nothing of the kind.",
    .size = sizeof(struct arguments),
    .check = check,
    .run = run,
};
