/* cmd_merge.c - `assay merge`: other databases into one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "store/store.h"

const char usage_merge[] =
    "usage: assay merge FILE.sqlite ... [--db FILE]\n"
    "\n"
    "Takes every run of other databases into this one. Rows keep their ids, so merging\n"
    "twice, or in another order, makes no difference. Baselines and acks stay behind.\n"
    "\n"
    "  --db FILE  the database to merge into (default: ASSAY_DB, else\n"
    "             results/assay.sqlite)\n"
    "\n"
    "example: assay merge node1.sqlite node2.sqlite --db all.sqlite\n";

const struct option options_merge[] = {
    {"db", required_argument, NULL, 'd'}, {"help", no_argument, NULL, 'h'}, {0}};

static int merge(struct store *store, const char *target, const char *path)
{
    char from[PATH_MAX], to[PATH_MAX];
    int added;
    if (realpath(path, from) && realpath(target, to) && strcmp(from, to) == 0)
        return assay_error("%s is the database to merge into", path);
    if (store_merge(store, path, &added) != 0) return -1;
    fprintf(stderr, "assay merge: %s: %d new rows\n", path, added);
    return 0;
}

int cmd_merge(int argc, char **argv)
{
    const char *db = NULL;
    struct store *store;
    int option, status = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_merge, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage_merge, stdout);
            return EXIT_FINE;
        }
        if (option != 'd') return command_bad_option(argv[0], argv, options_merge, option);
        db = optarg;
    }
    if (optind == argc) return command_misused(argv[0], "which databases?");
    if (option_check_readable(argv + optind, argc - optind) != 0 ||
        store_open(&store, command_database(db), STORE_WRITE) != 0)
        return command_failed(argv[0]);
    for (int i = optind; i < argc && status == 0; i++)
        status = merge(store, command_database(db), argv[i]);
    store_close(store);
    return status == 0 ? EXIT_FINE : command_failed(argv[0]);
}
