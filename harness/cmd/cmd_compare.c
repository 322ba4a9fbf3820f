/* cmd_compare.c - `assay compare`: two stored runs, case by case. */
#include <stdio.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/report_options.h"
#include "cmd/run_choice.h"
#include "show/comparison_formats.h"
#include "show/comparison_words.h"

const char usage_compare[] =
    "usage: assay compare BASE CANDIDATE [options]\n"
    "\n"
    "Compares two stored runs, worst first. A ratio is the candidate's time over the\n"
    "base's; above 1 is slower. With four or more launches a side its interval is a\n"
    "95 % one over launches.\n"
    "\n"
    "BASE and CANDIDATE are an id or its beginning, a label, a named baseline, latest or\n"
    "latest~N; FILE.sqlite:RUN takes a run from another database.\n"
    "\n"
    "  --metric M       time (default), or speedup: the ratio to the baseline of the\n"
    "                   same launch, which cancels clock and temperature\n"
    "  --threshold PCT  smallest change that counts (default: the suite's, else 2 where\n"
    "                   the SM clock stayed the same, else 5)\n"
    "  --fdr PCT        take the tests of all cases together: of what is then called\n"
    "                   changed, so much is false in the mean (Benjamini-Hochberg; below\n"
    "                   50; for nightly reports, not for a gate)\n"
    "  --across         compare also where device, firmware, driver, power limit, ECC, MIG,\n"
    "                   clock or flush differ\n"
    "  --fail-on LIST   verdicts that end with 3: SUSPECT,UNSTABLE, or any\n"
    "  --format F       table (default), md, json or html\n"
    "  -o, --output F   write there\n"
    "  --db FILE        the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay compare latest~1 latest\n"
    "         assay compare release-1.2 latest --format md -o changes.md\n"
    "\n"
    "What is acknowledged in the candidate's database (assay ack) is no reason to fail.\n"
    "\n"
    "Exit: 0 fine, 1 a case REGRESSED, 2 usage, 3 by --fail-on, 4 nothing comparable,\n"
    "5 a case of the candidate failed or is missing.\n";

const struct option options_compare[] = {
    {"metric", required_argument, NULL, 'm'},  {"threshold", required_argument, NULL, 't'},
    {"fdr", required_argument, NULL, 'r'},     {"across", no_argument, NULL, 'x'},
    {"fail-on", required_argument, NULL, 'l'}, {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},  {"db", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},          {0},
};

struct arguments {
    const char *run[2], *db, *output;
    struct compare_options compare;
    struct comparison_options show;
};

static int take_rate(double *rate)
{
    if (option_percent("fdr", optarg, rate) != 0) return -1;
    if (*rate < COMPARE_MOST_FDR) return 0;
    return assay_error("--fdr %.20s: of what is called changed that share would be false; "
                       "below %.0f is wanted, and 5 is usual",
                       optarg, 100 * COMPARE_MOST_FDR);
}

static int take(struct arguments *arguments, int option)
{
    switch (option) {
    case 'm':
        return option_metric(optarg, &arguments->compare.speedup);
    case 't':
        return option_percent("threshold", optarg, &arguments->compare.threshold);
    case 'r':
        return take_rate(&arguments->compare.fdr);
    case 'x':
        arguments->compare.across = true;
        return 0;
    case 'l':
        return verdict_set_parse(optarg, &arguments->compare.fail_on);
    case 'f':
        arguments->show.format = optarg;
        return comparison_knows_format(optarg) ? 0 : -1;
    case 'o':
        arguments->output = optarg;
        return 0;
    case 'd':
        arguments->db = optarg;
        return 0;
    default:
        return assay_error("unknown option");
    }
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":o:", options_compare, NULL)) != -1) {
        if (option == 'h') return 1;
        if (option == '?' || option == ':') return option_misused(argv, option, options_compare);
        if (take(arguments, option) != 0) return -1;
    }
    if (argc - optind < 2) return assay_error("which two runs? (assay list runs)");
    if (argc - optind > 2) return assay_error("two runs only, not '%s' too", argv[optind + 2]);
    arguments->run[0] = argv[optind];
    arguments->run[1] = argv[optind + 1];
    return 0;
}

static void tell_nothing(const struct comparison *comparison)
{
    char why[WORDS_LINE];
    nothing_text(comparison, why);
    fprintf(stderr, "assay compare: nothing of the two runs can be compared: %s\n", why);
}

static int compare(const struct arguments *arguments, int *code)
{
    struct comparison comparison;
    struct out_file file;
    if (run_choice_compare(&comparison, arguments->run[0], arguments->run[1], arguments->db,
                           &arguments->compare) != 0)
        return -1;
    int status = out_file_open(&file, arguments->output);
    if (status == 0)
        status =
            out_file_close(&file, comparison_write(file.stream, &comparison, &arguments->show));
    *code = comparison.exit;
    if (comparison.exit == EXIT_NOTHING) tell_nothing(&comparison);
    comparison_release(&comparison);
    return status;
}

int cmd_compare(int argc, char **argv)
{
    struct arguments arguments = {
        .show = {.format = "table", .colour = terminal_colour(), .width = terminal_columns()},
    };
    int parsed = parse(argc, argv, &arguments), code = EXIT_FINE;
    if (parsed > 0) {
        fputs(usage_compare, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (arguments.output) arguments.show.colour = false;
    if (compare(&arguments, &code) != 0) code = command_failed(argv[0]);
    return code;
}
