/* cmd_import.c - `assay import`: runs from files into the database. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "device.h"
#include "exchange_format.h"
#include "options.h"
#include "store.h"

const char usage_import[] =
    "usage: assay import FILE... [--format ndjson|csv] [--db FILE]\n"
    "\n"
    "Take runs into the database. Each file is taken whole or not at all; what is\n"
    "there already is left as it is, so importing twice, or in another order, makes\n"
    "no difference.\n"
    "\n"
    "  FILE           what `assay export` wrote; - is standard input\n"
    "  --format NAME  ndjson or csv; by default what FILE ends in, else its content\n"
    "  --db FILE      the database (default: $ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay import results/h200/*.ndjson\n";

struct arguments {
    const char *database;
    const struct exchange_format *format; /* NULL: each file's own */
    bool help;
};

static int parse(int argc, char **argv, struct arguments *arguments)
{
    static const struct option longs[] = {{"format", required_argument, NULL, 'f'},
                                          {"db", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    optind = 0; /* start anew: main has parsed its own */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1;) {
        if (c == 'f') {
            arguments->format = exchange_format_named(optarg);
            if (!arguments->format) return -1;
        } else if (c == 'd')
            arguments->database = optarg;
        else if (c == 'h')
            arguments->help = true;
        else
            return option_misused(argv, c, longs);
    }
    return arguments->help || optind < argc ? 0 : assay_error("say which files");
}

static int import_file(struct store *store, const char *path, const struct exchange_format *format)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int rows;
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    if (!format) format = exchange_format_of(path);
    if (!format) format = exchange_format_sniff(in);
    int status = format->import_file(store, name, in, &rows);
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
    int status = store_open(&store, command_database(arguments.database), STORE_WRITE);
    for (int i = optind; status == 0 && i < argc; i++)
        status = import_file(store, argv[i], arguments.format);
    store_close(store);
    if (status == 0) return EXIT_FINE;
    return command_failed("import");
}
