/* cmd_plot.c - `assay plot`: a picture of a run. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "device.h"
#include "options.h"
#include "plot.h"
#include "run_choice.h"
#include "text.h"

const char usage_plot[] =
    "usage: assay plot KIND [RUN] -o FILE.svg|png|pdf [--operation NAME] [--only GLOB]\n"
    "                  [--keep-script] [--db FILE]\n"
    "\n"
    "Draw a run with gnuplot. KIND:\n"
    "\n"
    "  sweep  throughput against size, a curve a variant, with the ceilings that bind\n"
    "         and the caches; time by variant when the run has one size\n"
    "\n"
    "RUN is an id or its beginning, a label, latest (the default) or latest~N;\n"
    "FILE.sqlite:RUN takes it from another database.\n"
    "\n"
    "  -o, --output FILE  where to; the ending says what\n"
    "  --operation NAME   which operation (default: the one with the most sizes)\n"
    "  --only GLOB        which of its other dims and temperature: 'input=bf16 hot'\n"
    "  --keep-script      leave the data and the script beside FILE (.tsv, .gp)\n"
    "  --db FILE          the database (default: ASSAY_DB, else results/assay.sqlite)\n";

struct arguments {
    const char *run, *db;
    const struct plot_kind *kind;
    struct plot_options plot;
};

enum { MOST_KINDS = 16 };

static const struct plot_kind *kind_find(const char *name)
{
    const char *names[MOST_KINDS];
    int count = 0;
    for (; plot_kinds[count].name && count < MOST_KINDS; count++) {
        if (!strcmp(plot_kinds[count].name, name)) return &plot_kinds[count];
        names[count] = plot_kinds[count].name;
    }
    const char *near = text_nearest(name, names, count);
    if (near)
        assay_error("no kind of plot '%s'; did you mean %s?", name, near);
    else
        assay_error("no kind of plot '%s'; there is %s", name, names[0]);
    return NULL;
}

/* KIND and RUN. */
static int parse_names(int argc, char **argv, struct arguments *arguments)
{
    if (optind >= argc) return assay_error("which kind of plot?");
    arguments->kind = kind_find(argv[optind++]);
    if (!arguments->kind) return -1;
    if (optind < argc) arguments->run = argv[optind++];
    if (optind < argc) return assay_error("one run only, not '%s' too", argv[optind]);
    if (!arguments->plot.output) return assay_error("where to? -o FILE.svg");
    return 0;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"operation", required_argument, NULL, 'p'},
        {"only", required_argument, NULL, 'y'},
        {"keep-script", no_argument, NULL, 'k'},
        {"db", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int option;
    optind = 0; /* start anew: main has parsed its own */
    while ((option = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            arguments->plot.output = optarg;
            break;
        case 'p':
            arguments->plot.operation = optarg;
            break;
        case 'y':
            arguments->plot.only = optarg;
            break;
        case 'k':
            arguments->plot.keep_script = true;
            break;
        case 'd':
            arguments->db = optarg;
            break;
        case 'h':
            return 1;
        default:
            return option_misused(argv, option, options);
        }
    }
    return parse_names(argc, argv, arguments);
}

int cmd_plot(int argc, char **argv)
{
    static const int exit_codes[] = {
        [PLOT_DRAWN] = EXIT_FINE, [PLOT_FAILED] = EXIT_USAGE, [PLOT_NOTHING] = EXIT_NOTHING};
    struct stored_run run;
    struct arguments arguments = {0};
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_plot, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (run_choice_read(&run, arguments.run, arguments.db)) return command_failed(argv[0]);
    enum plot_outcome outcome = arguments.kind->draw(&run, &arguments.plot);
    if (outcome != PLOT_DRAWN) command_failed(argv[0]);
    stored_run_release(&run);
    return exit_codes[outcome];
}
