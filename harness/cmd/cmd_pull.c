/* cmd_pull.c - `assay pull`: runs from a central store. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/options.h"
#include "store/store_central.h"

struct arguments {
    struct given given;
    const char *db;
};

static int check(void *given)
{
    const char *url = ((const struct arguments *)given)->given.word[0];
    return store_is_url(url)
               ? 0
               : assay_error("'%s' is no URL of a central store (postgres://HOST/DATABASE)", url);
}

int central_find(struct store *store, const struct given *given, char (**ids)[STORE_ID])
{
    *ids = calloc((size_t)given->count, sizeof **ids);
    int status = *ids ? 0 : assay_error("out of memory for the names of runs");
    for (int i = 1; i < given->count && status == 0; i++)
        status = store_find_run(store, given->word[i], (*ids)[i - 1]);
    if (status != 0) free(*ids);
    return status;
}

int central_say(const struct given *given, const struct central_outcome *outcome, int status)
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

/* The store comes last: it is made where it is not there. */
static int pull(const struct arguments *arguments, struct store *remote)
{
    const struct given *given = &arguments->given;
    struct central_outcome outcome = {0};
    struct store *store;
    char(*ids)[STORE_ID];
    if (central_find(remote, given, &ids) != 0) return -1;
    int code = store_open(&store, arguments->db, STORE_WRITE);
    if (code == 0) {
        code =
            central_pull(store, remote, (const char(*)[STORE_ID])ids, given->count - 1, &outcome);
        store_close(store);
        code = central_say(given, &outcome, code);
    }
    free(ids);
    return code;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct store *remote;
    if (store_open(&remote, arguments->given.word[0], STORE_READ) != 0) return -1;
    int code = pull(arguments, remote);
    store_close(remote);
    return code;
}

static const struct command_option options[] = {
    OPTION_DB,
    {0},
};

const struct command cmd_pull = {
    .name = "pull",
    .summary = "runs from a central store (PostgreSQL)",
    .options = options,
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
    .check = check,
    .run = run,
};
