/* cmd_central.c - `assay push` and `assay pull`: runs to and from a central store. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/options.h"
#include "store/store_central.h"

struct arguments {
    struct given given;
    const char *db;
    bool schema; /* of push */
};

static int check_pull(void *given)
{
    const char *url = ((const struct arguments *)given)->given.word[0];
    return store_is_url(url)
               ? 0
               : assay_error("'%s' is no URL of a central store (postgres://HOST/DATABASE)", url);
}

static int check_push(void *given)
{
    const struct arguments *arguments = given;
    const char *url = arguments->given.word[0];
    if (arguments->schema) return url ? assay_error("--schema stands alone") : 0;
    if (!url) return assay_error("to which central store? (postgres://HOST/DATABASE)");
    if (check_pull(given) != 0) return -1;
    if (store_is_url(arguments->db))
        return assay_error(
            "what is pushed comes from a file (--db FILE), not from a central store");
    return 0;
}

/* The ids of the runs that are named behind the URL; free *ids. 0, or -1 with assay_error. */
static int find_runs(struct store *store, const struct given *given, char (**ids)[STORE_ID])
{
    *ids = calloc((size_t)given->count, sizeof **ids);
    int status = *ids ? 0 : assay_error("out of memory for the names of runs");
    for (int i = 1; i < given->count && status == 0; i++)
        status = store_find_run(store, given->word[i], (*ids)[i - 1]);
    if (status != 0) free(*ids);
    return status;
}

/* What it came to, which ended with `status`: an exit code, or -1 with assay_error. */
static int say(const struct given *given, const struct central_outcome *outcome, int status)
{
    const struct merge_outcome *rows = &outcome->rows;
    const char *name = given->command->name;
    bool is_push = given->command == &cmd_push;
    char shown[STORE_SHOWN], failure[512];
    store_shown(given->word[0], shown);
    if (status != 0 && outcome->moved == 0) return -1;
    fprintf(stderr, "assay %s: %s: %d runs %s, %d were %s; %lld new rows\n", name, shown,
            outcome->moved, is_push ? "sent" : "fetched", outcome->there,
            is_push ? "there" : "here", (long long)rows->added);
    if (rows->conflicts > 0)
        fprintf(stderr,
                "assay %s: %s: %lld rows differ from those with the same id %s, which stay as they "
                "are: %s\n",
                name, shown, (long long)rows->conflicts, is_push ? "there" : "here", rows->where);
    if (status == 0) return rows->conflicts > 0 ? EXIT_REGRESSED : EXIT_FINE;
    snprintf(failure, sizeof failure, "%s", assay_last_error());
    return assay_error("%s; assay %s again goes on from there", failure, name);
}

/* Out of `from`. The store that is pulled into is opened last: it is made if it is not there. */
static int carry(const struct arguments *arguments, struct store *from, const char (*ids)[STORE_ID],
                 struct central_outcome *outcome)
{
    const struct given *given = &arguments->given;
    struct store *to;
    if (given->command == &cmd_push)
        return central_push(from, given->word[0], ids, given->count - 1, outcome);
    if (store_open(&to, arguments->db, STORE_WRITE) != 0) return -1;
    int status = central_pull(to, from, ids, given->count - 1, outcome);
    store_close(to);
    return status;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    bool is_push = arguments->given.command == &cmd_push;
    struct central_outcome outcome = {0};
    struct store *from;
    char(*ids)[STORE_ID];
    if (arguments->schema) return central_write_schema(stdout) == 0 ? EXIT_FINE : -1;
    if (store_open(&from, is_push ? arguments->db : arguments->given.word[0], STORE_READ) != 0)
        return -1;
    int code = find_runs(from, given, &ids);
    if (code == 0) {
        code = carry(arguments, from, (const char(*)[STORE_ID])ids, &outcome);
        code = say(given, &outcome, code);
        free(ids);
    }
    store_close(from);
    return code;
}

static const struct command_option push_options[] = {
    OPTION_DB,
    {"schema", VALUE_FLAG, .at = AT(schema),
     .help = "print the SQL that makes a central store, or brings an older one to this version"},
    {0},
};

const struct command cmd_push = {
    .name = "push",
    .summary = "runs to a central store (PostgreSQL)",
    .options = push_options,
    .words = {{"URL"}, {"RUN", .kind = VALUE_RUN}},
    .most = ANY_NUMBER,
    .synopsis = "URL [RUN...] [options]\n--schema",
    .about = "Sends the runs of a database, or those that are named, to a PostgreSQL server:\n"
             "postgres://USER@HOST/DATABASE, as libpq reads it, with its password file and\n"
             "its TLS. What is there already is not sent again, so a push that was cut off\n"
             "is made again and goes on. Where two rows have one id and different contents the\n"
             "one on the server stays, and that is reported. With all runs go the noise and\n"
             "the verdicts of gates; baselines and acks stay behind. docs/fleet.md has the\n"
             "rights that its role needs.\n",
    .examples = "assay push postgres://writer@db.example/assay\n"
                "assay push postgres://writer@db.example/assay latest\n"
                "assay push --schema | psql postgres://owner@db.example/assay",
    .exit = "0 fine, 1 rows that differ under one id, 2 usage, or a server that refuses.",
    .size = sizeof(struct arguments),
    .check = check_push,
    .run = run,
};

static const struct command_option pull_options[] = {OPTION_DB, {0}};

const struct command cmd_pull = {
    .name = "pull",
    .summary = "runs from a central store (PostgreSQL)",
    .options = pull_options,
    .words = {{"URL"}, {"RUN", .kind = VALUE_TEXT}},
    .least = 1,
    .most = ANY_NUMBER,
    .which = "from which central store? (postgres://HOST/DATABASE)",
    .synopsis = "URL [RUN...] [options]",
    .about = "Fetches the runs of a central store, or those that are named, into a database:\n"
             "RUN is an id or its beginning, a label, latest or latest~N there. What is here\n"
             "already is not fetched again, and a pull that was cut off is made again and\n"
             "goes on. The commands that read a database also take the URL itself:\n"
             "assay show latest --db URL.\n",
    .examples = "assay pull postgres://reader@db.example/assay latest --db here.sqlite",
    .exit = "0 fine, 1 rows that differ under one id, 2 usage, or a server that refuses.",
    .size = sizeof(struct arguments),
    .check = check_pull,
    .run = run,
};
