/* cmd_list.c - assay list: what there is to run, and what was run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/shape.h"
#include "cmd/options.h"
#include "doctor/devices.h"
#include "store/store.h"
#include "suite/suite.h"

enum { WIDTH = 100 };

struct arguments {
    struct given given;
    const char *format, *db;
    bool all;
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

static int list_suites(struct json *json, const struct arguments *arguments)
{
    static const char *const headings[] = {"suite", ">groups", "title"};
    char(*names)[ASSAY_MAX_NAME];
    int count;
    (void)arguments;
    if (suite_names(&names, &count)) return -1;
    struct table table;
    table_init(&table, headings, 3);
    for (int i = 0; i < count; i++) {
        char title[1024];
        int groups;
        suite_line(names[i], title, sizeof title, &groups);
        if (json) {
            json_begin_object(json);
            json_text_member(json, "suite", names[i]);
            json_count_member(json, "groups", groups);
            json_text_member(json, "title", title);
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
    json_text_member(json, "name", dim->name);
    json_text_member(json, "summary", dim->summary);
    if (dim->choices) {
        json_text_member(json, "default", dim->choices[dim->fallback]);
        json_key(json, "choices");
        json_begin_array(json);
        for (int i = 0; dim->choices[i]; i++)
            json_string(json, dim->choices[i]);
        json_end(json);
    } else {
        int64_t min, max;
        shape_range(dim, &min, &max);
        json_int_member(json, "default", dim->fallback);
        json_int_member(json, "min", min);
        json_int_member(json, "max", max);
    }
    json_end(json);
}

static void write_operation(struct json *json, const struct assay_operation *operation)
{
    json_begin_object(json);
    json_text_member(json, "operation", operation->name);
    json_text_member(json, "summary", operation->summary);
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

static int list_operations(struct json *json, const struct arguments *arguments)
{
    static const char *const headings[] = {"operation, its dims", "default", "what it is"};
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    struct table table;
    (void)arguments;
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

/* Compute capabilities are x 10, null for any. */
static void write_variant(struct json *json, const struct assay_variant *variant)
{
    json_begin_object(json);
    json_text_member(json, "operation", variant->operation);
    json_text_member(json, "variant", variant->name);
    json_text_member(json, "kind", kind_name(variant->kind));
    json_text_member(json, "device", place_name(variant->place));
    json_text_member(json, "summary", variant->summary);
    json_count_member(json, "min_sm", variant->min_sm ? variant->min_sm : -1);
    json_count_member(json, "max_sm", variant->max_sm ? variant->max_sm : -1);
    json_end(json);
}

static int list_variants(struct json *json, const struct arguments *arguments)
{
    static const char *const headings[] = {"operation", "variant", "kind", "device", "summary"};
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    struct table table;
    (void)arguments;
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

/* ------------------------------------------------------------------ runs -- */

struct run_list {
    struct json *json;
    struct table table;
    bool all;
};

/* What a line of a gate's launches has no label for. */
static const char *label_of(const struct run_list *list, const struct run_line *line)
{
    return line->gate[0] && !list->all ? "" : line->label;
}

static int write_run(const struct run_list *list, const struct run_line *line)
{
    struct json *json = list->json;
    json_begin_object(json);
    json_text_member(json, "run", line->id);
    json_text_member(json, "started_at", line->started_at);
    json_text_member(json, "suite", line->suite);
    json_text_member(json, "label", label_of(list, line));
    json_text_member(json, "device", line->device);
    json_text_member(json, "status", line->status);
    json_int_member(json, "launches", line->launches);
    json_int_member(json, "cases", line->cases);
    json_int_member(json, "ok", line->ok);
    json_known_member(json, "gate", line->gate);
    json_known_member(json, "gate_mode", line->gate_mode);
    json_count_member(json, "gate_exit", line->gate_exit);
    json_end(json);
    return 0;
}

/* "gate 1a2b3c4d: paired, exit 0", or a run's label. */
static void words_of(const struct run_list *list, const struct run_line *line, char *out,
                     size_t size)
{
    bool is_gate = line->gate[0] && !list->all;
    if (!is_gate)
        snprintf(out, size, "%s", line->label);
    else if (line->gate_exit >= 0)
        snprintf(out, size, "gate %s: %s, exit %d", line->gate, line->gate_mode, line->gate_exit);
    else
        snprintf(out, size, "gate %s: %s", line->gate,
                 line->gate_mode[0] ? line->gate_mode : "no decision");
}

static int list_run(const struct run_line *line, void *context)
{
    struct run_list *list = context;
    char words[RESULT_MAX_PROPERTY];
    if (list->json) return write_run(list, line);
    words_of(list, line, words, sizeof words);
    table_cell(&list->table, "%.8s", line->id);
    table_cell(&list->table, "%.19s", line->started_at);
    table_cell(&list->table, "%s", line->suite);
    table_cell(&list->table, "%s", line->status);
    table_cell(&list->table, "%d", line->launches);
    table_cell(&list->table, "%d/%d", line->ok, line->cases);
    table_cell(&list->table, "%s%s%s", line->device, *words ? "; " : "", words);
    return 0;
}

static int list_runs(struct json *json, const struct arguments *arguments)
{
    static const char *const headings[] = {"run",       "started (UTC)", "suite",        "status",
                                           ">launches", ">ok/cases",     "device; label"};
    struct store *store;
    if (store_open(&store, arguments->db, STORE_READ)) return -1;
    struct run_list list = {.json = json, .all = arguments->all};
    table_init(&list.table, headings, 7);
    int failed = store_each_run(store, !arguments->all, list_run, &list);
    store_close(store);
    if (!failed && !json) failed = table_print(&list.table, stdout, WIDTH);
    table_release(&list.table);
    return failed;
}

/* --------------------------------------------------------------- command -- */

static const char list_names[] = "suites operations variants devices runs";

/* What can be listed; `list` writes a table, or the members of an array. */
static const struct {
    const char *name;
    int (*list)(struct json *json, const struct arguments *arguments);
} lists[] = {
    {"suites", list_suites},     {"operations", list_operations},
    {"variants", list_variants}, {"runs", list_runs},
    {"devices", NULL}, /* devices_list writes its own document */
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    const char *name = arguments->given.word[0];
    const char *of_runs = option_given(given, "all db");
    if (choice_check("there is no list", name, list_names) != 0) return -1;
    if (of_runs && strcmp(name, "runs") != 0) return assay_error("--%s is of runs alone", of_runs);
    return 0;
}

/* Through memory, so that a list that fails half way prints nothing. */
static int print_json(int which, const struct arguments *arguments)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return assay_error("out of memory");
    struct json json;
    json_begin(&json, out, 2);
    json_begin_array(&json);
    int failed = lists[which].list(&json, arguments);
    if (!failed) json_end(&json);
    if (!failed) failed = json_finish(&json);
    if (fclose(out) && !failed) failed = assay_error("out of memory");
    if (!failed && (fputs(text, stdout) == EOF || fflush(stdout)))
        failed = assay_error("cannot write to standard output");
    free(text);
    return failed;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    const char *name = arguments->given.word[0];
    int which = 0;
    bool as_json = strcmp(arguments->format, "json") == 0;
    while (strcmp(lists[which].name, name) != 0)
        which++;
    int failed = !lists[which].list ? devices_list(stdout, arguments->format)
                 : as_json          ? print_json(which, arguments)
                                    : lists[which].list(NULL, arguments);
    return failed ? -1 : EXIT_FINE;
}

static const struct command_option options[] = {
    OPTION_FORMAT("table json"),
    OPTION_DB,
    {"all", VALUE_FLAG, .at = AT(all), .help = "for runs: each launch of a gate as well"},
    {0},
};

const struct command cmd_list = {
    .name = "list",
    .summary = "suites, operations, variants, runs, devices",
    .options = options,
    .words = {{"WHAT", .choices = list_names}},
    .least = 1,
    .most = 1,
    .which = "say what: suites, operations, variants, devices or runs",
    .only = "one list at a time",
    .synopsis = "suites|operations|variants|devices|runs [options]",
    .about = "Lists what there is to run, and what was run.\n"
             "\n"
             "  suites      the suites that `assay run NAME` finds, with their titles\n"
             "  operations  what can be measured: formula and dims\n"
             "  variants    the implementations of each operation\n"
             "  devices     what --device takes on this machine\n"
             "  runs        the runs in the database, newest first; a gate's launches as one\n",
    .examples = "assay list suites\n"
                "assay list runs --format json",
    .exit = "0 fine, 2 usage, or there is no database.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table"},
    .check = check,
    .run = run,
};
