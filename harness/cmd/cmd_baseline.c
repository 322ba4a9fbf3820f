/* cmd_baseline.c - `assay baseline`: names for runs to compare with. */
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "store/store_gate.h"

const char usage_baseline[] =
    "usage: assay baseline set NAME RUN [--note TEXT] [--db FILE]\n"
    "       assay baseline list [--db FILE]\n"
    "       assay baseline drop NAME [--db FILE]\n"
    "\n"
    "A baseline is a run with a name. It moves only when it is set again: a gate never\n"
    "moves it. RUN is an id or its beginning, a label, latest or latest~N. As the base of\n"
    "a gate it stands for its build: other runs of that build join it (docs/gate.md).\n"
    "\n"
    "example: assay baseline set release-1.2 latest --note \"as shipped\"\n"
    "         assay baseline list\n";

const struct option options_baseline[] = {{"note", required_argument, NULL, 'n'},
                                          {"db", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};

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

static int set(struct store *store, char **words, const char *note)
{
    char id[STORE_ID];
    if (check_name(words[0]) != 0) return -1;
    if (store_find_run(store, words[1], id) != 0) return -1;
    return store_set_baseline(store, words[0], id, note);
}

/* The words after the options: what to do, and with what. */
static const char *misuse(char **words, int count, const char *note)
{
    if (count == 0) return "set, list or drop?";
    if (note && strcmp(words[0], "set") != 0) return "--note is for set alone";
    if (strcmp(words[0], "set") == 0) return count == 3 ? NULL : "set wants NAME and RUN";
    if (strcmp(words[0], "drop") == 0) return count == 2 ? NULL : "drop wants NAME";
    if (strcmp(words[0], "list") == 0) return count == 1 ? NULL : "list wants nothing";
    return "set, list or drop?";
}

static int act(struct store *store, char **words, const char *note)
{
    switch (words[0][0]) {
    case 's':
        return set(store, words + 1, note);
    case 'd':
        return store_drop_baseline(store, words[1]);
    default:
        return store_each_baseline(store, print_line, NULL);
    }
}

int cmd_baseline(int argc, char **argv)
{
    const char *db = NULL, *note = NULL;
    struct store *store;
    int option;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_baseline, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage_baseline, stdout);
            return EXIT_FINE;
        }
        if (option == 'n')
            note = optarg;
        else if (option == 'd')
            db = optarg;
        else
            return command_bad_option(argv[0], argv, options_baseline, option);
    }
    const char *wrong = misuse(argv + optind, argc - optind, note);
    if (wrong) return command_misused(argv[0], wrong);
    enum store_mode mode = argv[optind][0] == 'l' ? STORE_READ : STORE_CHANGE;
    if (store_open(&store, command_database(db), mode) != 0) return command_failed(argv[0]);
    int status = act(store, argv + optind, note ? note : "");
    store_close(store);
    return status == 0 ? EXIT_FINE : command_failed(argv[0]);
}
