/* cmd_import.c - `assay import`: runs from files into the database. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "export/exchange_format.h"
#include "store/store.h"

const char usage_import[] =
    "usage: assay import FILE... [--format NAME] [--db FILE]\n"
    "\n"
    "Take runs into the database. Each file is taken whole or not at all; what is\n"
    "there already is left as it is, so importing twice, or in another order, makes\n"
    "no difference.\n"
    "\n"
    "  FILE           ndjson that `assay export` wrote, or the JSON of NVBench\n"
    "                 (with the files of --jsonbin beside it, where they are) or of\n"
    "                 Google Benchmark; - is standard input\n"
    "  --format NAME  ndjson, nvbench or gbench; by default what its content shows\n"
    "  --db FILE      the database (default: $ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay import int8.ndjson\n"
    "         ./copy_bench --json copy.json && assay import copy.json\n";

const struct option options_import[] = {{"format", required_argument, NULL, 'f'},
                                        {"db", required_argument, NULL, 'd'},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

struct arguments {
    const char *database;
    const struct exchange_format *format; /* NULL: each file's own */
    bool help;
};

static int parse(int argc, char **argv, struct arguments *arguments)
{
    optind = 0; /* start anew: main has parsed its own */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options_import, NULL)) != -1;) {
        if (c == 'f') {
            arguments->format = exchange_format_named(optarg, EXCHANGE_IN);
            if (!arguments->format) return -1;
        } else if (c == 'd')
            arguments->database = optarg;
        else if (c == 'h')
            arguments->help = true;
        else
            return option_misused(argv, c, options_import);
    }
    return arguments->help || optind < argc ? 0 : assay_error("say which files");
}

/* A stream that can be read from its start again, with all that `in` has: `in`
 * itself when it is a file. NULL with assay_error. */
static FILE *seekable(FILE *in, const char *name)
{
    char piece[65536];
    size_t got;
    if (fseek(in, 0, SEEK_CUR) == 0) return in;
    FILE *copy = tmpfile();
    while (copy && (got = fread(piece, 1, sizeof piece, in)) > 0)
        if (fwrite(piece, 1, got, copy) != got) break;
    if (copy && !ferror(in) && fflush(copy) == 0 && !ferror(copy)) {
        rewind(copy);
        return copy;
    }
    assay_error("%s: cannot be read: %s", name, strerror(errno));
    if (copy) fclose(copy);
    return NULL;
}

static int import_file(struct store *store, const char *path, const struct exchange_format *format)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int rows;
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    FILE *from = format ? in : seekable(in, name);
    if (from && !format) format = exchange_format_sniff(from, path);
    int status = from && format ? format->import_file(store, name, from, &rows) : -1;
    if (from && from != in) fclose(from);
    if (!is_stdin) fclose(in);
    if (status == 0) fprintf(stderr, "%s: %d new rows\n", name, rows);
    return status;
}

int cmd_import(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct store *store = NULL;
    if (parse(argc, argv, &arguments) != 0) return command_misused("import", assay_last_error());
    if (arguments.help) {
        fputs(usage_import, stdout);
        return EXIT_FINE;
    }
    int status = option_check_readable(argv + optind, argc - optind);
    if (status == 0) status = store_open(&store, command_database(arguments.database), STORE_WRITE);
    for (int i = optind; status == 0 && i < argc; i++)
        status = import_file(store, argv[i], arguments.format);
    store_close(store);
    if (status == 0) return EXIT_FINE;
    return command_failed("import");
}
