/* cmd_merge.c - `assay merge`: other databases into one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "store/store.h"

struct arguments {
    struct given given;
    const char *db;
    int64_t conflicts;
};

static int merge(struct store *store, const char *path, void *given)
{
    struct arguments *arguments = given;
    char from[PATH_MAX], to[PATH_MAX];
    struct merge_outcome outcome;
    if (realpath(path, from) && realpath(arguments->db, to) && strcmp(from, to) == 0)
        return assay_error("%s is the database to merge into", path);
    if (store_merge(store, path, &outcome) != 0) return -1;
    text_printable(from, sizeof from, path, "");
    fprintf(stderr, "assay merge: %s: %lld new rows\n", from, (long long)outcome.added);
    if (outcome.conflicts > 0)
        fprintf(stderr,
                "assay merge: %s: %lld rows differ from those with the same id here, which stay as "
                "they are: %s\n",
                from, (long long)outcome.conflicts, outcome.where);
    arguments->conflicts += outcome.conflicts;
    return 0;
}

static int run(void *given)
{
    struct arguments *arguments = given;
    struct store *store;
    bool lacks = false;
    int code = files_take(&arguments->given, arguments->db, merge);
    if (code != EXIT_FINE || store_open(&store, arguments->db, STORE_READ) != 0) return code;
    if (shares_say(store, "merge", NULL, &lacks) != 0) code = -1;
    store_close(store);
    if (code != EXIT_FINE) return code;
    return lacks ? EXIT_LOST : arguments->conflicts > 0 ? EXIT_REGRESSED : EXIT_FINE;
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
    .about = "Takes every run of other databases into the one that --db names. Rows keep\n"
             "their ids, so merging twice, or in another order, makes no difference, and a\n"
             "merge that was killed is made again. Where two rows have one id and different\n"
             "contents the one that is here stays, and that is reported. Baselines and acks\n"
             "stay behind.\n",
    .exit = "0 fine, 1 rows that differ under one id, 2 usage, or a file that cannot be merged, "
            "5 shares of a job are missing.",
    .examples = "assay merge node1.sqlite node2.sqlite --db all.sqlite",
    .size = sizeof(struct arguments),
    .run = run,
};
