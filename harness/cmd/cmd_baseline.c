/* cmd_baseline.c - `assay baseline`: names for runs to compare with. */
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/options.h"
#include "store/store_gate.h"

struct arguments {
    struct given given;
    const char *db, *note;
};

static int print_line(const struct baseline_line *line, void *context)
{
    (void)context;
    printf("%-24s  %.8s  %-16s  %.10s  %s\n", line->name, line->run_id, line->suite, line->set_at,
           line->note);
    return 0;
}

/* What RUN means otherwise cannot be a name: it would never be found by it. */
static int check_name(const char *name)
{
    if (strlen(name) >= ASSAY_MAX_NAME)
        return assay_error("a name has %d characters at most", ASSAY_MAX_NAME - 1);
    if (!name[0] || strchr(name, ':') || strncmp(name, "latest", strlen("latest")) == 0)
        return assay_error("'%s' cannot name a baseline (not empty, no ':', not latest...)", name);
    return 0;
}

static int set(struct store *store, const struct arguments *arguments)
{
    char id[STORE_ID];
    const char *name = arguments->given.word[1];
    if (check_name(name) != 0) return -1;
    if (store_find_run(store, arguments->given.word[2], id) != 0) return -1;
    return store_set_baseline(store, name, id, arguments->note ? arguments->note : "");
}

enum { SET, LIST, DROP };

static const struct action {
    const char *name;
    int words; /* it and what it wants */
    const char *wants;
    enum store_mode mode;
} actions[] = {
    [SET] = {"set", 3, "set wants NAME and RUN", STORE_CHANGE},
    [LIST] = {"list", 1, "list wants nothing", STORE_READ},
    [DROP] = {"drop", 2, "drop wants NAME", STORE_CHANGE},
};

static const struct action *find_action(const struct given *given)
{
    int i = given->count > 0 ? rows_find(ROWS(actions), given->word[0]) : -1;
    return i < 0 ? NULL : &actions[i];
}

static int check(void *given)
{
    const struct arguments *arguments = given;
    const struct action *action = find_action(given);
    if (!action) return assay_error("set, list or drop?");
    if (arguments->note && action != &actions[SET]) return assay_error("--note is for set alone");
    return arguments->given.count == action->words ? 0 : assay_error("%s", action->wants);
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    const struct action *action = find_action(given);
    struct store *store;
    if (store_open(&store, arguments->db, action->mode) != 0) return -1;
    int status = action == &actions[SET]    ? set(store, arguments)
                 : action == &actions[LIST] ? store_each_baseline(store, print_line, NULL)
                                            : store_drop_baseline(store, arguments->given.word[1]);
    store_close(store);
    return status ? -1 : EXIT_FINE;
}

static const struct command_option options[] = {
    {"note", VALUE_TEXT, "TEXT", AT(note), .help = "with set: a remark that list shows"},
    OPTION_DB,
    {0},
};

const struct command cmd_baseline = {
    .name = "baseline",
    .summary = "names for runs to compare with",
    .options = options,
    .words = {{"ACTION", .choices = "set list drop"},
              {"NAME", .kind = VALUE_BASELINE},
              {"RUN", .kind = VALUE_RUN}},
    .most = ANY_NUMBER,
    .synopsis = "set NAME RUN [--note TEXT] [--db FILE]\n"
                "list [--db FILE]\n"
                "drop NAME [--db FILE]",
    .about = "A baseline is a run with a name. It moves only when it is set again: a gate\n"
             "never moves it. RUN is an id or its beginning, a label, latest or latest~N. As\n"
             "the base of a gate it stands for its build: other runs of that build join it\n"
             "(docs/gate.md).\n",
    .exit = "0 fine, 2 usage, or no such run or baseline.",
    .examples = "assay baseline set release-1.2 latest --note \"as shipped\"\n"
                "assay baseline list",
    .size = sizeof(struct arguments),
    .check = check,
    .run = run,
};
