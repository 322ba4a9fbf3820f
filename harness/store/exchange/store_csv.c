/* store_csv.c - a run as CSV: the fields of the tables, a column each. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "base/text.h"
#include "case/case_name.h"
#include "store/store_internal.h"

/* "mse=0.1 max=2", a column that no table has. */
struct metrics {
    char text[ASSAY_MAX_METRICS * (ASSAY_MAX_NAME + NUMBER_SIZE)];
};

static FIELD_TABLE(metric_fields, FIELD_AS("metrics", metrics, text));

static FIELD_TABLE(group_fields, FIELD_OF_WORDS(stored_case, purpose, purpose_words),
                   FIELDS(stored_case, group_label, threshold, expect_wrong));

static FIELD_TABLE(run_id_fields, FIELD_AS("run_id", run_info, id));
static FIELD_TABLE(launch_id_fields, FIELD_AS("launch_id", launch_info, id));

/* Columns that stand together, with what their struct is for one line. */
struct columns {
    const char *prefix;
    const struct field *fields;
    const void *base;
};
enum { COLUMNS = 13 };

/* Left to right: what is read most comes first. `stored` NULL: for the header. */
static void columns_of(const struct stored_run *run, const struct stored_case *stored,
                       const struct metrics *metrics, struct columns columns[COLUMNS])
{
    const struct case_result *result = stored ? &stored->result : NULL;
    const struct launch_info *launch = stored ? stored_run_launch(run, stored->launch_id) : NULL;
    const struct columns all[COLUMNS] = {
        {"", case_fields, result ? &result->id : NULL},
        {"", result_fields, result},
        {"", metric_fields, metrics},
        {"", group_fields, stored},
        {"", run_id_fields, &run->run},
        {"", launch_id_fields, launch},
        {"run_", run_fields, &run->run},
        {"run_", time_fields, run},
        {"launch_", launch_fields, launch},
        {"launch_", session_fields, launch ? &launch->device : NULL},
        {"device_", device_fields, launch ? &launch->device : NULL},
        {"program_", program_fields, &run->program},
        {"host_", host_fields, &run->host},
    };
    memcpy(columns, all, sizeof all);
}

/* In `text`, or where it stands; "" for what was not measured. */
static const char *value_text(const struct field *field, const void *at, char text[NUMBER_SIZE])
{
    int64_t count = field->type == FIELD_COUNT     ? *(const int32_t *)at
                    : field->type == FIELD_COUNT64 ? *(const int64_t *)at
                                                   : -1;
    *text = '\0';
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_LINES:
        return at;
    case FIELD_POINTER:
        return *(const char *const *)at;
    case FIELD_WORD:
    case FIELD_SOME_WORD:
        return words_name(field->words, *(const int32_t *)at);
    case FIELD_REAL:
        if (!isnan(*(const double *)at)) number_text(*(const double *)at, text);
        break;
    case FIELD_COUNT:
    case FIELD_COUNT64:
        if (count >= 0) snprintf(text, NUMBER_SIZE, "%" PRId64, count);
        break;
    case FIELD_BITS:
        snprintf(text, NUMBER_SIZE, "%" PRIu64, *(const uint64_t *)at);
        break;
    case FIELD_FLAG:
        snprintf(text, NUMBER_SIZE, "%d", *(const bool *)at);
        break;
    }
    return text;
}

static void metrics_text(const struct case_result *result, struct metrics *metrics)
{
    metrics->text[0] = '\0';
    for (int i = 0; i < result->metric_count; i++) {
        const struct metric *metric = &result->metrics[i];
        char value[NUMBER_SIZE] = "";
        if (!isnan(metric->value)) number_text(metric->value, value);
        text_add(metrics->text, sizeof metrics->text, " ", "%s=%s", metric->name, value);
    }
}

static void write_line(FILE *out, const struct columns columns[COLUMNS], bool is_header)
{
    for (int i = 0; i < COLUMNS; i++) {
        for (const struct field *field = columns[i].fields; field->name; field++) {
            char name[80], number[NUMBER_SIZE];
            const char *text = name;
            snprintf(name, sizeof name, "%s%s", columns[i].prefix, field->name);
            if (!is_header)
                text = value_text(field, (const char *)columns[i].base + field->offset, number);
            csv_write(out, text, i + 1 == COLUMNS && !field[1].name ? '\n' : ',');
        }
    }
}

int store_export_csv(struct store *store, const char *run_id, const char *filter, FILE *out)
{
    int written = 0;
    struct columns columns[COLUMNS];
    struct metrics metrics;
    struct stored_run run;
    if (store_read_run(store, run_id, false, &run) != 0) return -1;
    columns_of(&run, NULL, &metrics, columns);
    write_line(out, columns, true);
    for (int i = 0; i < run.case_count && !ferror(out); i++) {
        if (!case_matches(filter, &run.cases[i].result.id)) continue;
        metrics_text(&run.cases[i].result, &metrics);
        columns_of(&run, &run.cases[i], &metrics, columns);
        write_line(out, columns, false);
        written++;
    }
    stored_run_release(&run);
    if (fflush(out) == 0 && !ferror(out)) return filter && written == 0;
    return assay_error("cannot write the export: %s", strerror(errno));
}
