/* store_csv.c - a run as CSV: the fields of the tables, a column each. */
#include "store/exchange/store_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "store/store_internal.h"

enum { VALUE_SIZE = 4 * ASSAY_MAX_REASON };

/* ------------------------------------------------------------- columns -- */

/* "mse=0.1 max=2", a column that no table has. */
struct metrics {
    char text[ASSAY_MAX_METRICS * (ASSAY_MAX_NAME + NUMBER_SIZE)];
};

#define TEXT(column, owner, member)                                                                \
    {                                                                                              \
        column, FIELD_TEXT, offsetof(struct owner, member), sizeof(((struct owner *)0)->member),   \
            NULL                                                                                   \
    }

static const struct field metric_fields[] = {TEXT("metrics", metrics, text), {0}};

static const struct field group_fields[] = {
    {"purpose", FIELD_WORD, offsetof(struct stored_case, purpose), sizeof(int32_t), &purpose_words},
    TEXT("group_label", stored_case, group_label),
    {"threshold", FIELD_REAL, offsetof(struct stored_case, threshold), sizeof(double), NULL},
    {"expect_wrong", FIELD_COUNT, offsetof(struct stored_case, expect_wrong), sizeof(int32_t),
     NULL},
    {0},
};

static const struct field run_id_fields[] = {TEXT("run_id", run_info, id), {0}};
static const struct field launch_id_fields[] = {TEXT("launch_id", launch_info, id), {0}};

static const struct field time_fields[] = {
    TEXT("started_at", stored_run, started_at),
    TEXT("ended_at", stored_run, ended_at),
    TEXT("status", stored_run, status),
    {0},
};

/* Columns that stand together, with what their struct is for one line. */
struct columns {
    const char *prefix;
    struct part part;
};
enum { COLUMNS = 13 };

static const struct launch_info *launch_of(const struct stored_run *run, const char *launch_id)
{
    int i = 0;
    while (strcmp(run->launches[i].id, launch_id) != 0)
        i++;
    return &run->launches[i];
}

/* Left to right: what is read most comes first. `stored` NULL: for the header. */
static void columns_of(const struct stored_run *run, const struct stored_case *stored,
                       const struct metrics *metrics, struct columns columns[COLUMNS])
{
    const struct case_result *result = stored ? &stored->result : NULL;
    const struct launch_info *launch = stored ? launch_of(run, stored->launch_id) : NULL;
    const struct columns all[COLUMNS] = {
        {"", {case_fields, result ? &result->id : NULL}},
        {"", {result_fields, result}},
        {"", {metric_fields, metrics}},
        {"", {group_fields, stored}},
        {"", {run_id_fields, &run->run}},
        {"", {launch_id_fields, launch}},
        {"run_", {run_fields, &run->run}},
        {"run_", {time_fields, run}},
        {"launch_", {launch_fields, launch}},
        {"launch_", {session_fields, launch ? &launch->device : NULL}},
        {"device_", {device_fields, launch ? &launch->device : NULL}},
        {"program_", {program_fields, &run->program}},
        {"host_", {host_fields, &run->host}},
    };
    memcpy(columns, all, sizeof all);
}

/* -------------------------------------------------------------- values -- */

/* "" for what was not measured. */
static void value_text(const struct field *field, const void *at, char text[VALUE_SIZE])
{
    int64_t count = field->type == FIELD_COUNT     ? *(const int32_t *)at
                    : field->type == FIELD_COUNT64 ? *(const int64_t *)at
                                                   : -1;
    *text = '\0';
    switch (field->type) {
    case FIELD_TEXT:
        snprintf(text, VALUE_SIZE, "%s", (const char *)at);
        break;
    case FIELD_REAL:
        if (!isnan(*(const double *)at)) number_text(*(const double *)at, text);
        break;
    case FIELD_COUNT:
    case FIELD_COUNT64:
        if (count >= 0) snprintf(text, VALUE_SIZE, "%" PRId64, count);
        break;
    case FIELD_BITS:
        snprintf(text, VALUE_SIZE, "%" PRIu64, *(const uint64_t *)at);
        break;
    case FIELD_FLAG:
        snprintf(text, VALUE_SIZE, "%d", *(const bool *)at);
        break;
    case FIELD_WORD:
        snprintf(text, VALUE_SIZE, "%s", field->words->name(*(const int32_t *)at));
        break;
    }
}

static void metrics_text(const struct case_result *result, struct metrics *metrics)
{
    size_t used = 0;
    metrics->text[0] = '\0';
    for (int i = 0; i < result->metric_count; i++) {
        const struct metric *metric = &result->metrics[i];
        char value[NUMBER_SIZE] = "";
        if (!isnan(metric->value)) number_text(metric->value, value);
        used += (size_t)snprintf(metrics->text + used, sizeof metrics->text - used, "%s%s=%s",
                                 i ? " " : "", metric->name, value);
    }
}

/* --------------------------------------------------------------- lines -- */

static void write_line(FILE *out, const struct columns columns[COLUMNS], bool is_header)
{
    char value[VALUE_SIZE];
    for (int i = 0; i < COLUMNS; i++) {
        for (const struct field *field = columns[i].part.fields; field->column; field++) {
            bool is_last = i + 1 == COLUMNS && !field[1].column;
            if (is_header)
                snprintf(value, sizeof value, "%s%s", columns[i].prefix, field->column);
            else
                value_text(field, (const char *)columns[i].part.base + field->offset, value);
            csv_write(out, value, is_last ? '\n' : ',');
        }
    }
}

int store_export_csv(struct store *store, const char *run_id, FILE *out)
{
    struct columns columns[COLUMNS];
    struct metrics metrics;
    struct stored_run run;
    if (store_read_run(store, run_id, false, &run) != 0) return -1;
    columns_of(&run, NULL, &metrics, columns);
    write_line(out, columns, true);
    for (int i = 0; i < run.case_count && !ferror(out); i++) {
        metrics_text(&run.cases[i].result, &metrics);
        columns_of(&run, &run.cases[i], &metrics, columns);
        write_line(out, columns, false);
    }
    stored_run_release(&run);
    if (fflush(out) == 0 && !ferror(out)) return 0;
    return assay_error("%s: cannot write the export: %s", store->path, strerror(errno));
}
