/* cmd_list.c - assay list: what there is to run, and what was run. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/result.h"
#include "case/shape.h"
#include "cmd/commands.h"
#include "cmd/list_runs.h"
#include "doctor/devices.h"
#include "suite/suite.h"

enum { WIDTH = 100 };

const char usage_list[] =
    "usage: assay list suites|operations|variants|devices|runs [options]\n"
    "\n"
    "What there is to run, and what was run.\n"
    "\n"
    "  suites      the suites that `assay run NAME` finds, with their titles\n"
    "  operations  what can be measured: formula and dims\n"
    "  variants    the implementations of each operation\n"
    "  devices     what --device takes on this machine\n"
    "  runs        the runs in the database, newest first; the launches of a gate as one\n"
    "\n"
    "  --format table|json   default table\n"
    "  --db FILE             of runs; default $ASSAY_DB or results/assay.sqlite\n"
    "  --all                 of runs: each launch of a gate as well\n"
    "\n"
    "example: assay list suites\n"
    "         assay list runs --format json\n"
    "\n"
    "Exit: 0 fine, 2 usage, or there is no database.\n";

const struct option options_list[] = {
    {"format", required_argument, NULL, 'f'},
    {"db", required_argument, NULL, 'd'},
    {"all", no_argument, NULL, 'a'},
    {0},
};

/* ---------------------------------------------------------------- suites -- */

/* One line of the list; a suite with an error is listed with it. */
static void suite_line(const char *name, char *title, size_t size, int *groups)
{
    struct suite suite;
    *groups = -1;
    if (suite_read(&suite, name)) {
        snprintf(title, size, "error: %s", assay_last_error());
        return;
    }
    text_copy(title, size, suite.title);
    *groups = suite.group_count;
    suite_release(&suite);
}

static int list_suites(struct json *json, const struct list_options *options)
{
    static const char *const headings[] = {"suite", ">groups", "title"};
    char(*names)[ASSAY_MAX_NAME];
    int count;
    (void)options;
    if (suite_names(&names, &count)) return -1;
    struct table table;
    table_init(&table, headings, 3);
    for (int i = 0; i < count; i++) {
        char title[1024];
        int groups;
        suite_line(names[i], title, sizeof title, &groups);
        if (json) {
            json_begin_object(json);
            json_key(json, "suite");
            json_string(json, names[i]);
            json_key(json, "groups");
            if (groups < 0)
                json_null(json);
            else
                json_int(json, groups);
            json_key(json, "title");
            json_string(json, title);
            json_end(json);
            continue;
        }
        table_cell(&table, "%s", names[i]);
        if (groups < 0)
            table_cell(&table, "-");
        else
            table_cell(&table, "%d", groups);
        table_cell(&table, "%s", title);
    }
    free(names);
    int failed = json ? 0 : table_print(&table, stdout, WIDTH);
    table_release(&table);
    return failed;
}

/* ------------------------------------------------------------ operations -- */

static void fallback_text(const struct assay_dim *dim, char *out, size_t size)
{
    if (dim->choices)
        snprintf(out, size, "%s", dim->choices[dim->fallback]);
    else
        snprintf(out, size, "%lld", (long long)dim->fallback);
}

static void write_dim(struct json *json, const struct assay_dim *dim)
{
    json_begin_object(json);
    json_key(json, "name");
    json_string(json, dim->name);
    json_key(json, "summary");
    json_string(json, dim->summary);
    json_key(json, "default");
    if (dim->choices) {
        json_string(json, dim->choices[dim->fallback]);
        json_key(json, "choices");
        json_begin_array(json);
        for (int i = 0; dim->choices[i]; i++)
            json_string(json, dim->choices[i]);
        json_end(json);
    } else {
        int64_t min, max;
        shape_range(dim, &min, &max);
        json_int(json, dim->fallback);
        json_key(json, "min");
        json_int(json, min);
        json_key(json, "max");
        json_int(json, max);
    }
    json_end(json);
}

static void write_operation(struct json *json, const struct assay_operation *operation)
{
    json_begin_object(json);
    json_key(json, "operation");
    json_string(json, operation->name);
    json_key(json, "summary");
    json_string(json, operation->summary);
    json_key(json, "dims");
    json_begin_array(json);
    for (int i = 0; i < shape_dims(operation); i++)
        write_dim(json, &operation->dims[i]);
    json_end(json);
    json_end(json);
}

/* What a dim takes, for people: "a size, the elements" or "fp32|bf16". */
static void tabulate_dim(struct table *table, const struct assay_dim *dim)
{
    char fallback[ASSAY_MAX_NAME], takes[256] = "";
    fallback_text(dim, fallback, sizeof fallback);
    for (int i = 0; dim->choices && dim->choices[i]; i++) {
        size_t used = strlen(takes);
        snprintf(takes + used, sizeof takes - used, "%s%s", i ? "|" : "", dim->choices[i]);
    }
    table_cell(table, "  %s", dim->name);
    table_cell(table, "%s", fallback);
    table_cell(table, "%s%s%s", takes, *takes ? ": " : "", dim->summary);
}

static int list_operations(struct json *json, const struct list_options *options)
{
    static const char *const headings[] = {"operation, its dims", "default", "what it is"};
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    struct table table;
    (void)options;
    table_init(&table, headings, 3);
    for (int i = 0; i < count; i++) {
        if (json) {
            write_operation(json, operations[i]);
            continue;
        }
        table_cell(&table, "%s", operations[i]->name);
        table_cell(&table, "%s", "");
        table_cell(&table, "%s", operations[i]->summary);
        for (int j = 0; j < shape_dims(operations[i]); j++)
            tabulate_dim(&table, &operations[i]->dims[j]);
    }
    int failed = json ? 0 : table_print(&table, stdout, WIDTH);
    table_release(&table);
    return failed;
}

/* -------------------------------------------------------------- variants -- */

/* A compute capability x 10, null for any. */
static void write_capability(struct json *json, const char *key, int capability)
{
    json_key(json, key);
    if (capability)
        json_int(json, capability);
    else
        json_null(json);
}

static void write_variant(struct json *json, const struct assay_variant *variant)
{
    const struct {
        const char *key, *value;
    } members[] = {
        {"operation", variant->operation},  {"variant", variant->name},
        {"kind", kind_name(variant->kind)}, {"device", place_name(variant->place)},
        {"summary", variant->summary},
    };
    json_begin_object(json);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_key(json, members[i].key);
        json_string(json, members[i].value);
    }
    write_capability(json, "min_sm", variant->min_sm);
    write_capability(json, "max_sm", variant->max_sm);
    json_end(json);
}

static int list_variants(struct json *json, const struct list_options *options)
{
    static const char *const headings[] = {"operation", "variant", "kind", "device", "summary"};
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    struct table table;
    (void)options;
    table_init(&table, headings, 5);
    for (int i = 0; i < count; i++) {
        const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
        int found = registry_variants(operations[i]->name, variants, REGISTRY_MAX_VARIANTS);
        for (int j = 0; j < found; j++) {
            if (json) {
                write_variant(json, variants[j]);
                continue;
            }
            table_cell(&table, "%s", variants[j]->operation);
            table_cell(&table, "%s", variants[j]->name);
            table_cell(&table, "%s", kind_name(variants[j]->kind));
            table_cell(&table, "%s", place_name(variants[j]->place));
            table_cell(&table, "%s", variants[j]->summary);
        }
    }
    int failed = json ? 0 : table_print(&table, stdout, WIDTH);
    table_release(&table);
    return failed;
}

/* --------------------------------------------------------------- command -- */

/* What can be listed; `list` writes a table, or the members of an array. */
static const struct {
    const char *name;
    int (*list)(struct json *json, const struct list_options *options);
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
static int print_json(int which, const struct list_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return assay_error("out of memory");
    struct json json;
    json_begin(&json, out, 2);
    json_begin_array(&json);
    int failed = lists[which].list(&json, options);
    if (!failed) json_end(&json);
    if (!failed) failed = json_finish(&json);
    if (fclose(out) && !failed) failed = assay_error("out of memory");
    if (!failed && (fputs(text, stdout) == EOF || fflush(stdout)))
        failed = assay_error("cannot write to standard output");
    free(text);
    return failed;
}

static int print_list(int which, const char *format, const struct list_options *options)
{
    if (!lists[which].list) return devices_list(stdout, format);
    if (registry_check()) return -1;
    if (!strcmp(format, "json")) return print_json(which, options);
    return lists[which].list(NULL, options);
}

int cmd_list(int argc, char **argv)
{
    static const char *const words[] = {"--format", "--db", "--all"};
    static const char *const formats[] = {"table", "json"};
    const char *names[LISTS];
    const char *format = "table";
    struct list_options options = {.database = NULL};
    for (int i = 0; i < LISTS; i++)
        names[i] = lists[i].name;

    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, ":", options_list, NULL)) != -1;) {
        if (c == 'f')
            format = optarg;
        else if (c == 'd')
            options.database = optarg;
        else if (c == 'a')
            options.all = true;
        else if (c == ':')
            return misused("a value is missing after", argv[optind - 1], NULL, 0);
        else
            return misused("unknown option", argv[optind - 1], words, 3);
    }
    if (strcmp(format, "table") && strcmp(format, "json"))
        return misused("unknown format", format, formats, 2);
    if (optind == argc)
        return command_misused("list", "say what: suites, operations, variants, devices or runs");
    if (optind + 1 < argc) return misused("one list at a time; not", argv[optind + 1], NULL, 0);

    int which = 0;
    while (which < LISTS && strcmp(names[which], argv[optind]))
        which++;
    if (which == LISTS) return misused("there is no list", argv[optind], names, LISTS);
    if (lists[which].list != list_runs && (options.database || options.all))
        return command_misused("list",
                               options.all ? "--all is of runs alone" : "--db is of runs alone");
    options.database = command_database(options.database);
    if (!print_list(which, format, &options)) return EXIT_FINE;
    fprintf(stderr, "assay list: %s\n", assay_last_error());
    return EXIT_USAGE;
}
