/* cmd_export.c - `assay export`: a run as a file that others can read. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "export/exchange_format.h"
#include "store/store.h"

const char usage_export[] =
    "usage: assay export [RUN] [--format NAME] [-o FILE] [--db FILE]\n"
    "\n"
    "Write one run. Formats:\n"
    "\n"
    "  ndjson         lossless: every row of the run with every sample, a JSON object a\n"
    "                 line; `assay import` takes it back\n"
    "  csv            one wide table, a row a case, without samples\n"
    "  gbench         Google Benchmark's JSON: Bencher, github-action-benchmark\n"
    "  bmf            Bencher Metric Format: latency and throughput with intervals\n"
    "  prometheus     the text format, for node exporter's textfile collector\n"
    "\n"
    "The last three hold the cases that are ok and their medians (see docs/exchange.md).\n"
    "\n"
    "  RUN            an id's first digits, a label, a named baseline, latest (the\n"
    "                 default) or latest~N; PATH.sqlite:RUN takes another database\n"
    "  --format NAME  by default what FILE ends in (.ndjson, .csv, .json: gbench,\n"
    "                 .bmf.json, .prom), else ndjson\n"
    "  -o, --output F  write there, whole or not at all; by default standard output\n"
    "  --db FILE      the database (default: $ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay export latest -o int8.ndjson\n"
    "         assay export latest -o assay.prom\n";

const struct option options_export[] = {{"format", required_argument, NULL, 'f'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"db", required_argument, NULL, 'd'},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

struct arguments {
    const char *run, *format, *output, *database;
    bool help;
};

static int parse(int argc, char **argv, struct arguments *arguments)
{
    optind = 0; /* start anew: main has parsed its own */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", options_export, NULL)) != -1;) {
        if (c == 'f')
            arguments->format = optarg;
        else if (c == 'o')
            arguments->output = optarg;
        else if (c == 'd')
            arguments->database = optarg;
        else if (c == 'h')
            arguments->help = true;
        else
            return option_misused(argv, c, options_export);
    }
    arguments->run = optind < argc ? argv[optind++] : "";
    return optind < argc ? assay_error("one run at a time, not '%s' too", argv[optind]) : 0;
}

static const struct exchange_format *choose_format(const struct arguments *arguments)
{
    const struct exchange_format *format = NULL;
    if (arguments->format) return exchange_format_named(arguments->format, EXCHANGE_OUT);
    if (arguments->output) format = exchange_format_of(arguments->output);
    return format ? format : exchange_format_named("ndjson", EXCHANGE_OUT);
}

static int export_run(const struct arguments *arguments, const struct exchange_format *format)
{
    char path[OUT_FILE_PATH], id[STORE_ID];
    const char *run;
    struct store *store = NULL;
    struct out_file file;
    int status = -1;

    if (store_split_run(arguments->run, command_database(arguments->database), path, sizeof path,
                        &run) != 0 ||
        store_open(&store, path, STORE_READ) != 0)
        return -1;
    if (store_find_run(store, run, id) == 0 && out_file_open(&file, arguments->output) == 0)
        status = out_file_close(&file, format->export_run(store, id, file.stream));
    store_close(store);
    return status;
}

int cmd_export(int argc, char **argv)
{
    struct arguments arguments = {0};
    if (parse(argc, argv, &arguments) != 0) return command_misused("export", assay_last_error());
    if (arguments.help) {
        fputs(usage_export, stdout);
        return EXIT_FINE;
    }
    const struct exchange_format *format = choose_format(&arguments);
    if (!format) return command_misused("export", assay_last_error());
    if (export_run(&arguments, format) == 0) return EXIT_FINE;
    return command_failed("export");
}
