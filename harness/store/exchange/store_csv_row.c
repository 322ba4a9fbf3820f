/* store_csv_row.c - the columns of a line of CSV and their values as text. */
#include "store/exchange/store_csv_row.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- columns -- */

#define TEXT(column, member)                                                                       \
    {                                                                                              \
        column, FIELD_TEXT, offsetof(struct csv_row, member),                                      \
            sizeof(((struct csv_row *)0)->member), NULL                                            \
    }

static const struct field id_fields[] = {
    TEXT("run_id", run.id),
    TEXT("launch_id", launch.id),
    {0},
};

static const struct field group_fields[] = {
    {"purpose", FIELD_WORD, offsetof(struct csv_row, purpose), sizeof(int32_t), &purpose_words},
    TEXT("group_label", group_label),
    {"threshold", FIELD_REAL, offsetof(struct csv_row, threshold), sizeof(double), NULL},
    {"expect_wrong", FIELD_COUNT, offsetof(struct csv_row, expect_wrong), sizeof(int32_t), NULL},
    {0},
};

static const struct field metric_fields[] = {TEXT("metrics", metrics), {0}};

static const struct field time_fields[] = {
    TEXT("started_at", started_at),
    TEXT("ended_at", ended_at),
    TEXT("status", status),
    {0},
};

/* The columns, left to right: what is read most comes first. */
static const struct {
    const char *prefix;
    const struct field *fields;
    size_t offset;
} groups[] = {
    {"", case_fields, offsetof(struct csv_row, result.id)},
    {"", result_fields, offsetof(struct csv_row, result)},
    {"", metric_fields, 0},
    {"", group_fields, 0},
    {"", id_fields, 0},
    {"run_", run_fields, offsetof(struct csv_row, run)},
    {"run_", time_fields, 0},
    {"launch_", launch_fields, offsetof(struct csv_row, launch)},
    {"launch_", session_fields, offsetof(struct csv_row, launch.device)},
    {"device_", device_fields, offsetof(struct csv_row, launch.device)},
    {"program_", program_fields, offsetof(struct csv_row, program)},
    {"host_", host_fields, offsetof(struct csv_row, host)},
};

int csv_columns(struct csv_column columns[CSV_MAX_COLUMNS])
{
    int count = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        for (const struct field *field = groups[i].fields; field->column; field++) {
            struct csv_column *column = &columns[count++];
            snprintf(column->name, sizeof column->name, "%s%s", groups[i].prefix, field->column);
            column->field = field;
            column->offset = groups[i].offset + field->offset;
            column->is_id = groups[i].fields == id_fields;
        }
    }
    return count;
}

/* -------------------------------------------------------------- values -- */

void csv_value_text(const struct field *field, const void *at, char text[CSV_VALUE_SIZE])
{
    int64_t count = field->type == FIELD_COUNT     ? *(const int32_t *)at
                    : field->type == FIELD_COUNT64 ? *(const int64_t *)at
                                                   : -1;
    *text = '\0';
    switch (field->type) {
    case FIELD_TEXT:
        snprintf(text, CSV_VALUE_SIZE, "%s", (const char *)at);
        break;
    case FIELD_REAL:
        if (!isnan(*(const double *)at)) number_text(*(const double *)at, text);
        break;
    case FIELD_COUNT:
    case FIELD_COUNT64:
        if (count >= 0) snprintf(text, CSV_VALUE_SIZE, "%" PRId64, count);
        break;
    case FIELD_BITS:
        snprintf(text, CSV_VALUE_SIZE, "%" PRIu64, *(const uint64_t *)at);
        break;
    case FIELD_FLAG:
        snprintf(text, CSV_VALUE_SIZE, "%d", *(const bool *)at);
        break;
    case FIELD_WORD:
        snprintf(text, CSV_VALUE_SIZE, "%s", field->words->name(*(const int32_t *)at));
        break;
    }
}

static bool parse_count(const char *text, int64_t most, int64_t *value)
{
    char *end;
    *value = -1;
    if (!*text) return true;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 && *value >= 0 && *value <= most;
}

static bool parse_bits(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static bool parse_real(const char *text, double *value)
{
    char *end;
    *value = NAN;
    if (!*text) return true;
    *value = strtod(text, &end);
    return *end == '\0';
}

bool csv_value_parse(const struct field *field, const char *text, void *at)
{
    int64_t count;
    switch (field->type) {
    case FIELD_TEXT:
        if (strlen(text) >= field->size) return false;
        strcpy(at, text);
        return true;
    case FIELD_REAL:
        return parse_real(text, at);
    case FIELD_COUNT:
        if (!parse_count(text, INT32_MAX, &count)) return false;
        *(int32_t *)at = (int32_t)count;
        return true;
    case FIELD_COUNT64:
        return parse_count(text, INT64_MAX, at);
    case FIELD_BITS:
        return parse_bits(text, at);
    case FIELD_FLAG:
        *(bool *)at = strcmp(text, "1") == 0;
        return *(bool *)at || strcmp(text, "0") == 0;
    case FIELD_WORD:
        *(int32_t *)at = *text ? field->words->parse(text) : -1;
        return *(int32_t *)at >= 0 || !*text;
    }
    return false;
}

/* ------------------------------------------------------------- metrics -- */

void csv_metrics_text(struct csv_row *row)
{
    char value[NUMBER_SIZE];
    size_t used = 0;
    *row->metrics = '\0';
    for (int i = 0; i < row->result.metric_count; i++) {
        const struct metric *metric = &row->result.metrics[i];
        if (isnan(metric->value))
            *value = '\0';
        else
            number_text(metric->value, value);
        used += (size_t)snprintf(row->metrics + used, sizeof row->metrics - used, "%s%s=%s",
                                 i ? " " : "", metric->name, value);
    }
}

bool csv_metrics_parse(struct csv_row *row)
{
    const char *at = row->metrics;
    row->result.metric_count = 0;
    while (*at) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        char value[NUMBER_SIZE];
        if (!equals || row->result.metric_count == ASSAY_MAX_METRICS) return false;
        struct metric *metric = &row->result.metrics[row->result.metric_count++];
        size_t name = (size_t)(equals - at), rest = length - name - 1;
        if (name == 0 || name >= sizeof metric->name || rest >= sizeof value) return false;
        memcpy(metric->name, at, name);
        memcpy(value, equals + 1, rest);
        metric->name[name] = value[rest] = '\0';
        if (!parse_real(value, &metric->value)) return false;
        at += length + (at[length] == ' ');
    }
    return true;
}
