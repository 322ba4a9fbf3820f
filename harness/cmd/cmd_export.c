/* cmd_export.c - `assay export`: a run as a file that others can read. */
#include <stdio.h>

#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/zstd_file.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "export/export.h"
#include "store/store.h"

struct arguments {
    struct given given;
    const char *db, *output, *format_name, *filter;
    const struct exchange_format *format;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    const char *name = arguments->format_name;
    if (!name && arguments->output) arguments->format = exchange_format_of(arguments->output);
    if (!arguments->format)
        arguments->format = exchange_format_named(name ? name : "ndjson", EXCHANGE_OUT);
    if (!arguments->format) return -1;
    if (!arguments->filter || !arguments->format->export_run) return 0;
    return assay_error("%s is a whole run, without --filter", arguments->format->name);
}

static int write_run(const struct arguments *arguments, struct store *store, const char *id,
                     FILE *out)
{
    struct zstd_file packed;
    if (!arguments->output || !zstd_is_named(arguments->output))
        return exchange_export(arguments->format, store, id, arguments->filter, out);
    if (zstd_open_write(&packed, arguments->output, out) != 0) return -1;
    return zstd_close(
        &packed, exchange_export(arguments->format, store, id, arguments->filter, packed.stream));
}

static int no_case(const struct arguments *arguments)
{
    struct stored_run stored;
    if (run_choice_read(&stored, false, arguments->given.word[0], arguments->db) != 0) return -1;
    int code = run_choice_no_case(&arguments->given, &stored, arguments->filter);
    stored_run_release(&stored);
    return code;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    const char *spec = arguments->given.word[0], *name;
    char path[OUT_FILE_PATH], id[STORE_ID];
    struct store *store = NULL;
    struct out_file file;
    int status = -1;
    if (store_split_run(spec ? spec : "", arguments->db, path, sizeof path, &name) != 0 ||
        store_open(&store, path, STORE_READ) != 0)
        return -1;
    if (store_find_run(store, name, id) == 0 && out_file_open(&file, arguments->output) == 0)
        status = out_file_close(&file, write_run(arguments, store, id, file.stream));
    store_close(store);
    return status == 1 ? no_case(arguments) : status ? -1 : EXIT_FINE;
}

static const struct command_option options[] = {
    {"format", VALUE_TEXT, "NAME", AT(format_name),
     .help = "by default what FILE ends in (.ndjson, .csv, .json: gbench, .bmf.json, .prom), else "
             "ndjson; .zst behind that compresses",
     .choices = "ndjson csv gbench bmf prometheus"},
    OPTION_FILTER(VALUE_CASE, filter),
    OPTION_OUTPUT("write there, whole or not at all; by default standard output"),
    OPTION_DB,
    {0},
};

const struct command cmd_export = {
    .name = "export",
    .summary = "write a run for other tools: ndjson, csv, gbench, bmf, prometheus",
    .options = options,
    .words = {{"RUN", .kind = VALUE_RUN}},
    .most = 1,
    .only = "one run at a time",
    .about = "Writes one run. The formats:\n"
             "\n"
             "  ndjson      lossless: every row of the run with every sample, one JSON object\n"
             "              per line; `assay import` takes it back\n"
             "  csv         one wide table, a row for each case, without samples\n"
             "  gbench      Google Benchmark's JSON: Bencher, github-action-benchmark\n"
             "  bmf         Bencher Metric Format: latency and throughput with intervals\n"
             "  prometheus  the text format, for node exporter's textfile collector\n"
             "\n"
             "The last three hold the cases that are ok and their medians (docs/exchange.md).\n"
             "\n" ABOUT_RUN,
    .examples = "assay export latest -o int8.ndjson.zst\n"
                "assay export latest -o assay.prom",
    .exit = "0 written, 2 usage, or it cannot be written, 4 no case matches.",
    .size = sizeof(struct arguments),
    .check = check,
    .run = run,
};
