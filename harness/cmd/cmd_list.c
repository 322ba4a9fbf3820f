/* cmd_list.c - assay list: what there is to run, and what was run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/field.h"
#include "base/json.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/shape.h"
#include "cmd/options.h"
#include "doctor/doctor.h"
#include "show/show.h"
#include "store/store.h"
#include "suite/suite.h"

enum { MOST_SUITE = 16 }; /* columns for its name, beside some 60 of the others */

struct arguments {
    struct given given;
    const char *format, *db;
    bool all;
};

/* Where the items of a list go. */
struct sink {
    const struct arguments *arguments;
    struct json *json; /* elements of its open array; NULL: rows of the table */
    struct table table;
};

static void put_text(struct sink *sink, const char *key, const char *text)
{
    if (sink->json)
        json_text_member(sink->json, key, text);
    else
        table_cell(&sink->table, "%s", text);
}

static void item_begin(struct sink *sink)
{
    if (sink->json) json_begin_object(sink->json);
}

static void item_end(struct sink *sink)
{
    if (sink->json) json_end(sink->json);
}

/* ---------------------------------------------------------------- suites -- */

/* A suite with an error is listed with it. */
static void put_suite(struct sink *sink, const char *name)
{
    struct suite suite;
    char title[1024], groups[16] = "-";
    bool is_read = suite_read(&suite, name) == 0;
    if (is_read) snprintf(groups, sizeof groups, "%d", suite.group_count);
    snprintf(title, sizeof title, "%s%s",
             is_read ? "" : "error: ", is_read ? suite.title : assay_last_error());
    item_begin(sink);
    put_text(sink, "suite", name);
    if (sink->json)
        json_count_member(sink->json, "groups", is_read ? suite.group_count : -1);
    else
        table_cell(&sink->table, "%s", groups);
    put_text(sink, "title", title);
    item_end(sink);
    if (is_read) suite_release(&suite);
}

static int list_suites(struct sink *sink)
{
    char(*names)[ASSAY_MAX_NAME];
    int count;
    if (suite_names(&names, &count)) return -1;
    for (int i = 0; i < count; i++)
        put_suite(sink, names[i]);
    free(names);
    return 0;
}

/* ------------------------------------------------------------ operations -- */

static void write_dim(struct json *json, const struct assay_dim *dim)
{
    json_begin_object(json);
    json_text_member(json, "name", dim->name);
    json_text_member(json, "summary", dim->summary);
    if (dim->choices) {
        json_text_member(json, "default", dim->choices[dim->fallback]);
        json_array_member(json, "choices");
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

/* What a dim takes, for people: "a size, the elements" or "fp32|bf16". */
static void tabulate_dim(struct table *table, const struct assay_dim *dim)
{
    char takes[256] = "";
    for (int i = 0; dim->choices && dim->choices[i]; i++)
        text_add(takes, sizeof takes, "|", "%s", dim->choices[i]);
    table_cell(table, "  %s", dim->name);
    if (dim->choices)
        table_cell(table, "%s", dim->choices[dim->fallback]);
    else
        table_cell(table, "%lld", (long long)dim->fallback);
    table_cell(table, "%s%s%s", takes, *takes ? ": " : "", dim->summary);
}

static int list_operations(struct sink *sink)
{
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    for (int i = 0; i < count; i++) {
        item_begin(sink);
        put_text(sink, "operation", operations[i]->name);
        if (!sink->json) table_cell(&sink->table, "%s", "");
        put_text(sink, "summary", operations[i]->summary);
        if (sink->json) json_array_member(sink->json, "dims");
        for (int j = 0; j < shape_dims(operations[i]); j++)
            if (sink->json)
                write_dim(sink->json, &operations[i]->dims[j]);
            else
                tabulate_dim(&sink->table, &operations[i]->dims[j]);
        if (sink->json) json_end(sink->json);
        item_end(sink);
    }
    return 0;
}

/* -------------------------------------------------------------- variants -- */

/* Compute capabilities are x 10, null for any. */
static void put_variant(struct sink *sink, const struct assay_variant *variant)
{
    item_begin(sink);
    put_text(sink, "operation", variant->operation);
    put_text(sink, "variant", variant->name);
    put_text(sink, "kind", kind_name(variant->kind));
    put_text(sink, "device", place_name(variant->place));
    put_text(sink, "summary", variant->summary);
    if (sink->json) {
        json_count_member(sink->json, "min_sm", variant->min_sm ? variant->min_sm : -1);
        json_count_member(sink->json, "max_sm", variant->max_sm ? variant->max_sm : -1);
    }
    item_end(sink);
}

static int list_variants(struct sink *sink)
{
    const struct assay_variant *const *variants;
    int count = registry_all_variants(&variants);
    for (int i = 0; i < count; i++)
        put_variant(sink, variants[i]);
    return 0;
}

/* ------------------------------------------------------------------ runs -- */

static const struct field run_fields[] = {
    FIELDS(run_line, status, launches, cases, ok, wrong, gate, gate_mode, gate_exit), {0}};

static void write_run(struct json *json, const struct run_line *line, const char *label)
{
    json_begin_object(json);
    json_text_member(json, "run", line->id);
    json_text_member(json, "started_at", line->started_at);
    json_text_member(json, "suite", line->suite);
    json_text_member(json, "label", label);
    json_text_member(json, "device", line->device);
    json_fields(json, run_fields, line);
    json_end(json);
}

/* On a terminal a long name of a suite is cut, which would leave no room for the others. */
static void tabulate_run(struct table *table, const struct run_line *line, const char *words)
{
    char suite[sizeof line->suite];
    bool is_terminal = terminal_width(stdout, 0) > 0;
    show_fit(suite, sizeof suite, line->suite, is_terminal ? MOST_SUITE : (int)sizeof suite);
    table_cell(table, "%.8s", line->id);
    table_cell(table, "%.19s", line->started_at);
    table_cell(table, "%s", suite);
    table_cell(table, "%s", line->status);
    table_cell(table, "%d", line->launches);
    table_cell(table, "%d/%d", line->ok, line->cases);
    table_cell(table, "%s%s%s", line->device, *words ? "; " : "", words);
}

static int list_run(const struct run_line *line, void *context)
{
    struct sink *sink = context;
    char words[RESULT_MAX_PROPERTY];
    bool is_gate = line->gate[0] && !sink->arguments->all; /* its launches have no one label */
    snprintf(words, sizeof words, "%s", is_gate ? "" : line->label);
    if (sink->json) {
        write_run(sink->json, line, words);
        return 0;
    }
    if (is_gate) {
        const char *mode = line->gate_mode[0] ? line->gate_mode : "no decision";
        snprintf(words, sizeof words, "gate %s: %s", line->gate, mode);
        if (line->gate_exit >= 0) text_add(words, sizeof words, ", ", "exit %d", line->gate_exit);
    }
    tabulate_run(&sink->table, line, words);
    return 0;
}

static int list_runs(struct sink *sink)
{
    struct store *store;
    if (store_open(&store, sink->arguments->db, STORE_READ)) return -1;
    int failed = store_each_run(store, !sink->arguments->all, list_run, sink);
    store_close(store);
    return failed;
}

/* --------------------------------------------------------------- command -- */

static const char list_names[] = "suites operations variants devices runs";

static const struct list {
    const char *name;
    int (*fill)(struct sink *sink); /* NULL: devices_list writes its own document */
    const char *headings[TABLE_MAX_COLUMNS];
} lists[] = {
    {"suites", list_suites, {"suite", ">groups", "title"}},
    {"operations", list_operations, {"operation, its dims", "default", "what it is"}},
    {"variants", list_variants, {"operation", "variant", "kind", "device", "summary"}},
    {"runs",
     list_runs,
     {"run", "started (UTC)", "suite", "status", ">launches", ">ok/cases", "device; label"}},
    {"devices", NULL, {NULL}},
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    const char *name = arguments->given.word[0];
    const char *of_runs = option_given(given, "all db");
    if (choice_check("there is no list", name, list_names) != 0) return -1;
    const char *of_kernels = option_given(given, "load allow-load");
    bool has_kernels = strcmp(name, "runs") != 0 && strcmp(name, "devices") != 0;
    if (of_kernels && !has_kernels)
        return assay_error("--%s is of suites, operations and variants alone", of_kernels);
    if (of_runs && strcmp(name, "runs") != 0) return assay_error("--%s is of runs alone", of_runs);
    return 0;
}

/* Through memory, so that a list that fails half way prints nothing. */
static int print_json(const struct list *list, const struct arguments *arguments)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return assay_error("out of memory");
    struct json json;
    struct sink sink = {.arguments = arguments, .json = &json};
    json_begin(&json, out, 2);
    json_begin_array(&json);
    int failed = list->fill(&sink);
    if (!failed) failed = json_finish(&json);
    if (fclose(out) && !failed) failed = assay_error("out of memory");
    if (!failed && (fputs(text, stdout) == EOF || fflush(stdout)))
        failed = assay_error("cannot write to standard output: %s", strerror(errno));
    free(text);
    return failed;
}

static int print_table(const struct list *list, const struct arguments *arguments)
{
    struct sink sink = {.arguments = arguments};
    int columns = 0;
    while (list->headings[columns])
        columns++;
    table_init(&sink.table, list->headings, columns);
    if (list->fill(&sink) == 0) return table_print(&sink.table, stdout, terminal_columns());
    table_release(&sink.table);
    return -1;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    const struct list *list = lists;
    bool as_json = strcmp(arguments->format, "json") == 0;
    while (strcmp(list->name, arguments->given.word[0]) != 0)
        list++;
    int failed = list->fill ? (as_json ? print_json : print_table)(list, arguments)
                            : devices_list(stdout, arguments->format, terminal_columns());
    return failed ? -1 : EXIT_FINE;
}

static const struct command_option options[] = {
    OPTION_FORMAT("table json"),
    OPTION_DB,
    {"all", VALUE_FLAG, .at = AT(all), .help = "for runs: each launch of a gate as well"},
    OPTIONS_OBJECT,
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
    .loads = true,
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table"},
    .check = check,
    .run = run,
};
