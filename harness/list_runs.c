/* list_runs.c - the runs in a database, newest first. */
#include "json_member.h"
#include "list.h"
#include "store.h"
#include "table.h"
#include "terminal.h"

struct run_list {
    struct json *json;
    struct table table;
};

static int write_run(struct json *json, const struct run_line *line)
{
    json_begin_object(json);
    json_text_member(json, "run", line->id);
    json_text_member(json, "started_at", line->started_at);
    json_text_member(json, "suite", line->suite);
    json_text_member(json, "label", line->label);
    json_text_member(json, "device", line->device);
    json_text_member(json, "status", line->status);
    json_int_member(json, "launches", line->launches);
    json_int_member(json, "cases", line->cases);
    json_int_member(json, "ok", line->ok);
    json_end(json);
    return 0;
}

static int list_run(const struct run_line *line, void *context)
{
    struct run_list *list = context;
    if (list->json) return write_run(list->json, line);
    table_cell(&list->table, "%.8s", line->id);
    table_cell(&list->table, "%.19s", line->started_at);
    table_cell(&list->table, "%s", line->suite);
    table_cell(&list->table, "%s", line->status);
    table_cell(&list->table, "%d", line->launches);
    table_cell(&list->table, "%d/%d", line->ok, line->cases);
    table_cell(&list->table, "%s%s%s", line->device, *line->label ? "; " : "", line->label);
    return 0;
}

int list_runs(struct json *json, const char *database)
{
    static const char *const headings[] = {"run",       "started (UTC)", "suite",        "status",
                                           ">launches", ">ok/cases",     "device; label"};
    struct store *store;
    if (store_open(&store, database, STORE_READ)) return -1;
    struct run_list list = {.json = json};
    table_init(&list.table, headings, 7);
    int failed = store_each_run(store, list_run, &list);
    store_close(store);
    if (!failed && !json) failed = table_print(&list.table, stdout, terminal_columns());
    table_release(&list.table);
    return failed;
}
