/* cmd_list.c - assay list: what there is to run, and what was run. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "device.h"
#include "devices.h"
#include "list.h"
#include "options.h"
#include "registry.h"
#include "text.h"

const char usage_list[] =
    "usage: assay list suites|operations|variants|devices|runs [options]\n"
    "\n"
    "What there is to run, and what was run.\n"
    "\n"
    "  suites      the suites that `assay run NAME` finds, with their titles\n"
    "  operations  what can be measured: formula and dims\n"
    "  variants    the implementations of each operation\n"
    "  devices     what --device takes on this machine\n"
    "  runs        the runs in the database, newest first\n"
    "\n"
    "  --format table|json   default table\n"
    "  --db FILE             of runs; default $ASSAY_DB or results/assay.sqlite\n"
    "\n"
    "example: assay list suites\n"
    "         assay list runs --format json\n"
    "\n"
    "Exit: 0 fine, 2 usage, or there is no database.\n";

const struct option options_list[] = {
    {"format", required_argument, NULL, 'f'}, {"db", required_argument, NULL, 'd'}, {0}};

/* What can be listed. */
static const struct {
    const char *name;
    int (*list)(struct json *json, const char *database);
} lists[] = {
    {"suites", list_suites},     {"operations", list_operations},
    {"variants", list_variants}, {"devices", NULL}, /* devices_list writes its own document */
    {"runs", list_runs},
};
enum { LISTS = sizeof lists / sizeof *lists };

/* "WHAT 'WORD' (did you mean 'x'?)", or with all the words there are. */
static int misused(const char *what, const char *word, const char *const *words, int count)
{
    const char *near = count ? text_nearest(word, words, count) : NULL;
    char message[512];
    size_t used = (size_t)snprintf(message, sizeof message, "%s '%s'", what, word);
    if (near) snprintf(message + used, sizeof message - used, " (did you mean '%s'?)", near);
    for (int i = 0; !near && i < count && used < sizeof message; i++)
        used += (size_t)snprintf(message + used, sizeof message - used, "%s%s%s",
                                 i ? ", " : " (there are ", words[i], i == count - 1 ? ")" : "");
    return command_misused("list", message);
}

/* Through memory, so that a list that fails half way prints nothing. */
static int print_json(int which, const char *database)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return assay_error("out of memory");
    struct json json;
    json_begin(&json, out, 2);
    json_begin_array(&json);
    int failed = lists[which].list(&json, database);
    if (!failed) json_end(&json);
    if (!failed) failed = json_finish(&json);
    if (fclose(out) && !failed) failed = assay_error("out of memory");
    if (!failed && (fputs(text, stdout) == EOF || fflush(stdout)))
        failed = assay_error("cannot write to standard output");
    free(text);
    return failed;
}

static int print_list(int which, const char *format, const char *database)
{
    if (!lists[which].list) return devices_list(stdout, format);
    if (registry_check()) return -1;
    if (!strcmp(format, "json")) return print_json(which, database);
    return lists[which].list(NULL, database);
}

static int parse(int argc, char **argv, const char **format, const char **database)
{
    static const char *const formats[] = {"table", "json"};
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, ":", options_list, NULL)) != -1;) {
        if (c == 'f')
            *format = optarg;
        else if (c == 'd')
            *database = optarg;
        else
            return command_bad_option("list", argv, options_list, c);
    }
    if (strcmp(*format, "table") && strcmp(*format, "json"))
        return misused("unknown format", *format, formats, 2);
    if (optind == argc)
        return command_misused("list", "say what: suites, operations, variants, devices or runs");
    if (optind + 1 < argc) return misused("one list at a time; not", argv[optind + 1], NULL, 0);
    return 0;
}

int cmd_list(int argc, char **argv)
{
    const char *names[LISTS];
    const char *format = "table", *database = NULL;
    int misuse = parse(argc, argv, &format, &database), which = 0;
    if (misuse) return misuse;
    for (int i = 0; i < LISTS; i++)
        names[i] = lists[i].name;
    while (which < LISTS && strcmp(names[which], argv[optind]))
        which++;
    if (which == LISTS) return misused("there is no list", argv[optind], names, LISTS);
    return print_list(which, format, command_database(database)) ? command_failed("list")
                                                                 : EXIT_FINE;
}
