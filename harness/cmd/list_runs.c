/* list_runs.c - see list_runs.h. */
#include "cmd/list_runs.h"

#include "assay.h"
#include "base/json.h"
#include "base/table.h"
#include "store/store.h"

enum { WIDTH = 100 };

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

int list_runs(struct json *json, const struct list_options *options)
{
    static const char *const headings[] = {"run",       "started (UTC)", "suite",        "status",
                                           ">launches", ">ok/cases",     "device; label"};
    struct store *store;
    if (store_open(&store, options->database, STORE_READ)) return -1;
    struct run_list list = {.json = json, .all = options->all};
    table_init(&list.table, headings, 7);
    int failed = store_each_run(store, !options->all, list_run, &list);
    store_close(store);
    if (!failed && !json) failed = table_print(&list.table, stdout, WIDTH);
    table_release(&list.table);
    return failed;
}
