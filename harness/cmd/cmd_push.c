/* cmd_push.c - `assay push`: runs to a central store. */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit_code.h"
#include "cmd/options.h"
#include "store/store_central.h"

struct arguments {
    struct given given;
    const char *db;
    bool schema;
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    const char *url = arguments->given.word[0];
    if (arguments->schema) return url ? assay_error("--schema stands alone") : 0;
    if (!url) return assay_error("to which central store? (postgres://HOST/DATABASE)");
    if (!store_is_url(url))
        return assay_error("'%s' is no URL of a central store (postgres://HOST/DATABASE)", url);
    if (store_is_url(arguments->db))
        return assay_error(
            "what is pushed comes from a file (--db FILE), not from a central store");
    return 0;
}

static int push(const struct arguments *arguments, struct store *store)
{
    const struct given *given = &arguments->given;
    struct central_outcome outcome = {0};
    char(*ids)[STORE_ID];
    if (central_find(store, given, &ids) != 0) return -1;
    int status = central_push(store, given->word[0], (const char(*)[STORE_ID])ids, given->count - 1,
                              &outcome);
    free(ids);
    return central_say(given, &outcome, status);
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct store *store;
    if (arguments->schema) return central_write_schema(stdout) == 0 ? EXIT_FINE : -1;
    if (store_open(&store, arguments->db, STORE_READ) != 0) return -1;
    int code = push(arguments, store);
    store_close(store);
    return code;
}

static const struct command_option options[] = {
    OPTION_DB,
    {"schema", VALUE_FLAG, .at = AT(schema),
     .help = "print the SQL that makes a central store, or brings an older one to this version"},
    {0},
};

const struct command cmd_push = {
    .name = "push",
    .summary = "runs to a central store (PostgreSQL)",
    .options = options,
    .words = {{"URL"}, {"RUN", .kind = VALUE_RUN}},
    .least = 0,
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
    .check = check,
    .run = run,
};
