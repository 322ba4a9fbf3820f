/* cmd_merge.c - `assay merge`: other databases into one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/options.h"
#include "cmd/shares.h"
#include "store/store.h"

struct arguments {
    struct given given;
    const char *db;
};

static int merge(struct store *store, const char *path, const void *given)
{
    const char *target = ((const struct arguments *)given)->db;
    char from[PATH_MAX], to[PATH_MAX];
    int added;
    if (realpath(path, from) && realpath(target, to) && strcmp(from, to) == 0)
        return assay_error("%s is the database to merge into", path);
    if (store_merge(store, path, &added) != 0) return -1;
    text_printable(from, sizeof from, path, "");
    fprintf(stderr, "assay merge: %s: %d new rows\n", from, added);
    return 0;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct store *store;
    bool lacks = false;
    int code = files_take(given, arguments->db, merge);
    if (code != EXIT_FINE || store_open(&store, arguments->db, STORE_READ) != 0) return code;
    if (shares_say(store, "merge", NULL, &lacks) != 0) code = -1;
    store_close(store);
    return code == EXIT_FINE && lacks ? EXIT_LOST : code;
}

static const struct command_option options[] = {
    OPTION_DB,
    {0},
};

const struct command cmd_merge = {
    .name = "merge",
    .summary = "other databases into one",
    .options = options,
    .words = {{"FILE.sqlite", .kind = VALUE_FILE}},
    .least = 1,
    .most = ANY_NUMBER,
    .which = "which databases?",
    .about = "Takes every run of other databases into the one that --db names. Rows keep their\n"
             "ids, so merging twice, or in another order, makes no difference. Baselines and\n"
             "acks stay behind.\n",
    .exit = "0 fine, 2 usage, or a file that cannot be merged, 5 shares of a job are missing.",
    .examples = "assay merge node1.sqlite node2.sqlite --db all.sqlite",
    .size = sizeof(struct arguments),
    .run = run,
};
