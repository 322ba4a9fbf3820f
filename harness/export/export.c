#include "export/export.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/zstd_file.h"
#include "store/exchange/store_foreign.h"

enum { FORMATS = 6, HEAD = 4096 };

/* A longer ending comes before its suffix: ".bmf.json" before ".json". */
static const struct exchange_format formats[FORMATS] = {
    {"ndjson", ".ndjson", .export_run = store_export_ndjson, .import_file = store_import_ndjson},
    {"csv", ".csv", .export_cases = store_export_csv},
    {"bmf", ".bmf.json", .export_view = export_bmf},
    {"gbench", ".json", .export_view = export_gbench, .import_file = store_import_gbench},
    {"nvbench", "", .import_file = store_import_nvbench},
    {"prometheus", ".prom", .export_view = export_prometheus},
};

static bool goes(const struct exchange_format *format, enum exchange_direction direction)
{
    return direction == EXCHANGE_OUT
               ? format->export_run || format->export_cases || format->export_view
               : format->import_file != NULL;
}

const struct exchange_format *exchange_format_named(const char *name,
                                                    enum exchange_direction direction)
{
    const char *names[FORMATS];
    char hint[TEXT_HINT];
    int count = 0;
    for (int i = 0; i < FORMATS; i++) {
        if (!goes(&formats[i], direction)) continue;
        if (strcmp(name, formats[i].name) == 0) return &formats[i];
        names[count++] = formats[i].name;
    }
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(name, formats[i].name) != 0) continue;
        return assay_error_as(NULL, "the format %s is only %s%s", name,
                              direction == EXCHANGE_OUT ? "read, by assay import"
                                                        : "written, by assay export",
                              text_hint(hint, "", names, count, ""));
    }
    return assay_error_as(NULL, "unknown format '%s'%s", name,
                          text_hint(hint, name, names, count, ""));
}

static bool ends_in(const char *path, size_t length, const char *ending)
{
    size_t tail = strlen(ending);
    return tail > 0 && length > tail && strncmp(path + length - tail, ending, tail) == 0;
}

const struct exchange_format *exchange_format_of(const char *path)
{
    size_t length = strlen(path) - (zstd_is_named(path) ? strlen(".zst") : 0);
    for (int i = 0; i < FORMATS; i++)
        if (goes(&formats[i], EXCHANGE_OUT) && ends_in(path, length, formats[i].ending))
            return &formats[i];
    return NULL;
}

/* Text near the start of a file that only one format has. */
static const struct {
    const char *word, *format;
} marks[] = {
    {"\"assay_ndjson\"", "ndjson"},
    {"\"context\"", "gbench"},
    {"\"meta\"", "nvbench"},
};

const struct exchange_format *exchange_format_sniff(FILE *in, const char *path)
{
    char head[HEAD + 1];
    head[fread(head, 1, HEAD, in)] = '\0';
    rewind(in);
    if (text_begins(head, "SQLite format 3"))
        return assay_error_as(NULL, "%s is a database: assay merge takes all of its runs", path);
    const char *mark = text_begins(head, TEXT_MARK), *first = mark ? mark : head;
    while (isspace((unsigned char)*first))
        first++;
    for (size_t i = 0; *first == '{' && i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(first, marks[i].word))
            return exchange_format_named(marks[i].format, EXCHANGE_IN);
    const struct exchange_format *format = exchange_format_of(path);
    return exchange_format_named(format ? format->name : "ndjson", EXCHANGE_IN);
}

/* The rows that are selected; 1: none is. */
static int export_rows(const struct exchange_format *format, const struct stored_run *run,
                       const char *filter, FILE *out)
{
    const struct view_selection selection = {.filter = filter};
    struct view view;
    if (view_make(&view, run) != 0) return -1;
    bool is_empty = view_select(&view, &selection) == 0 && filter;
    if (!is_empty) format->export_view(out, &view);
    view_release(&view);
    if (fflush(out) == 0 && !ferror(out)) return is_empty;
    return assay_error("cannot write the export: %s", strerror(errno));
}

int exchange_export(const struct exchange_format *format, struct store *store, const char *run_id,
                    const char *filter, FILE *out)
{
    struct stored_run run;
    if (format->export_run) return format->export_run(store, run_id, out);
    if (format->export_cases) return format->export_cases(store, run_id, filter, out);
    if (store_read_run(store, run_id, true, &run) != 0) return -1;
    int status = export_rows(format, &run, filter, out);
    stored_run_release(&run);
    return status;
}

bool export_has_time(const struct view_row *row)
{
    return status_has_time(row->result.status) && !row->is_hidden && !row->is_ceiling &&
           row->result.time_ns > 0;
}

void export_name(const struct view_row *row, char name[EXPORT_NAME])
{
    const struct case_id *id = &row->result.id;
    int used = snprintf(name, EXPORT_NAME, "%s/%s/", id->operation, id->variant);
    for (const char *c = id->shape; *c; c++)
        name[used++] = *c == '=' ? ':' : *c == ' ' ? '/' : *c;
    snprintf(name + used, EXPORT_NAME - (size_t)used, "%s%s/%s", id->shape[0] ? "/" : "",
             temperature_name(id->temperature), place_name(id->place));
}

void export_figure(struct json *json, const char *name, double value)
{
    if (isfinite(value)) json_number_member(json, name, value);
}
