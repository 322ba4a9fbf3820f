/* store_csv.c - runs to and from CSV, by the same tables of fields as the database. */
#include "store_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "device.h"
#include "store_internal.h"
#include "store_rows.h"

enum { VALUE_SIZE = 4 * ASSAY_MAX_REASON, MAX_COLUMNS = 160, MAX_COLUMN_NAME = 64 };

/* Everything that one line of CSV says. */
struct csv_row {
    struct run_info run;
    char started_at[TIMESTAMP_SIZE], ended_at[TIMESTAMP_SIZE], status[24];
    struct program_info program;
    struct host_info host;
    struct launch_info launch;
    int32_t purpose; /* enum group_purpose */
    char group_label[ASSAY_MAX_NAME];
    struct case_result result;
    char metrics[ASSAY_MAX_METRICS * (ASSAY_MAX_NAME + NUMBER_SIZE)]; /* "mse=0.1 max=2" */
};

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

/* One column: its name and where in a row it stands. */
struct csv_column {
    char name[MAX_COLUMN_NAME];
    const struct field *field;
    size_t offset;
};

static int columns_list(struct csv_column columns[MAX_COLUMNS])
{
    int count = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        for (const struct field *field = groups[i].fields; field->column; field++) {
            struct csv_column *column = &columns[count++];
            snprintf(column->name, sizeof column->name, "%s%s", groups[i].prefix, field->column);
            column->field = field;
            column->offset = groups[i].offset + field->offset;
        }
    }
    return count;
}

/* -------------------------------------------------------------- values -- */

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

static bool parse_value(const struct field *field, const char *text, void *at)
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

static void metrics_text(struct csv_row *row)
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

static bool metrics_parse(struct csv_row *row)
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

/* -------------------------------------------------------------- export -- */

static const struct launch_info *launch_of(const struct stored_run *run, const char *launch_id)
{
    int i = 0;
    while (strcmp(run->launches[i].id, launch_id) != 0)
        i++;
    return &run->launches[i];
}

static void row_fill(struct csv_row *row, const struct stored_run *run,
                     const struct stored_case *stored)
{
    row->run = run->run;
    row->program = run->program;
    row->host = run->host;
    row->launch = *launch_of(run, stored->launch_id);
    row->result = stored->result;
    row->purpose = stored->purpose;
    snprintf(row->group_label, sizeof row->group_label, "%s", stored->group_label);
    snprintf(row->started_at, sizeof row->started_at, "%s", run->started_at);
    snprintf(row->ended_at, sizeof row->ended_at, "%s", run->ended_at);
    snprintf(row->status, sizeof row->status, "%s", run->status);
    metrics_text(row);
}

int store_export_csv(struct store *store, const char *run_id, FILE *out)
{
    struct csv_column columns[MAX_COLUMNS];
    int count = columns_list(columns);
    struct stored_run run;
    struct csv_row row;
    char value[VALUE_SIZE];

    if (store_read_run(store, run_id, false, &run) != 0) return -1;
    for (int i = 0; i < count; i++)
        csv_write(out, columns[i].name, i + 1 < count ? ',' : '\n');
    for (int j = 0; j < run.case_count && !ferror(out); j++) {
        row_fill(&row, &run, &run.cases[j]);
        for (int i = 0; i < count; i++) {
            value_text(columns[i].field, (const char *)&row + columns[i].offset, value);
            csv_write(out, value, i + 1 < count ? ',' : '\n');
        }
    }
    stored_run_release(&run);
    if (fflush(out) == 0 && !ferror(out)) return 0;
    return assay_error("%s: cannot write the export: %s", store->path, strerror(errno));
}

/* -------------------------------------------------------------- import -- */

/* A file under import: its rows, and which column stands where. */
struct csv_file {
    const char *name;
    struct csv_column columns[MAX_COLUMNS];
    int column_count;
    int place[MAX_COLUMNS]; /* place[i]: which field of a record is column i */
    struct csv_row *rows;
    int row_count, capacity;
};

static int at_line(const struct csv_file *file, const struct csv_record *record)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", assay_last_error());
    return assay_error("%s:%ld: %s", file->name, record->line, why);
}

static int unknown_columns(const struct csv_file *file, const struct csv_record *header)
{
    for (int j = 0; j < header->count; j++) {
        bool known = false;
        for (int i = 0; i < file->column_count; i++)
            known |= strcmp(header->field[j], file->columns[i].name) == 0;
        if (!known) return assay_error("there is no column '%.60s'", header->field[j]);
        for (int k = 0; k < j; k++)
            if (strcmp(header->field[j], header->field[k]) == 0)
                return assay_error("the column '%s' is there twice", header->field[j]);
    }
    return 0;
}

static int read_header(struct csv_file *file, const struct csv_record *header)
{
    char missing[512] = "";
    for (int i = 0; i < file->column_count; i++) {
        file->place[i] = -1;
        for (int j = 0; j < header->count; j++)
            if (strcmp(header->field[j], file->columns[i].name) == 0) file->place[i] = j;
        size_t used = strlen(missing);
        if (file->place[i] < 0)
            snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                     file->columns[i].name);
    }
    if (unknown_columns(file, header) != 0) return -1;
    return *missing ? assay_error("missing columns: %s", missing) : 0;
}

static struct csv_row *row_add(struct csv_file *file)
{
    if (file->row_count == file->capacity) {
        int capacity = file->capacity ? 2 * file->capacity : 64;
        struct csv_row *rows = realloc(file->rows, (size_t)capacity * sizeof *rows);
        if (!rows) {
            assay_error("out of memory for %d rows", capacity);
            return NULL;
        }
        file->rows = rows;
        file->capacity = capacity;
    }
    struct csv_row *row = &file->rows[file->row_count++];
    memset(row, 0, sizeof *row);
    result_init(&row->result);
    row->launch.start = (struct device_state){
        .sm_mhz = NAN, .memory_mhz = NAN, .temperature_c = NAN, .power_w = NAN, .energy_mj = NAN};
    return row;
}

static int read_row(struct csv_file *file, const struct csv_record *record)
{
    if (record->count != file->column_count)
        return assay_error("%d fields, the header has %d", record->count, file->column_count);
    struct csv_row *row = row_add(file);
    if (!row) return -1;
    for (int i = 0; i < file->column_count; i++) {
        const struct csv_column *column = &file->columns[i];
        const char *text = record->field[file->place[i]];
        if (!parse_value(column->field, text, (char *)row + column->offset))
            return assay_error("'%.60s' is no value for the column %s", text, column->name);
    }
    if (!metrics_parse(row)) return assay_error("'%.60s' are no metrics", row->metrics);
    return 0;
}

static int read_file(struct csv_file *file, FILE *in)
{
    struct csv_record record = {0};
    int got = csv_read(in, &record), status = 0;
    if (got == 0) status = assay_error("no header: the file is empty");
    if (got == 1) status = read_header(file, &record);
    while (status == 0 && got == 1 && (got = csv_read(in, &record)) == 1)
        status = read_row(file, &record);
    if (got < 0) status = -1;
    if (status != 0) at_line(file, &record);
    csv_release(&record);
    return status;
}

/* The id of the run that the rows with the run_id of row `first` make: a hash
 * of all they say but ids, so that an export of the import gives it again. */
static void run_hash(const struct csv_file *file, int first, char id[ID_SIZE])
{
    struct id_hash hash;
    char value[VALUE_SIZE];
    id_hash_begin(&hash);
    id_hash_text(&hash, "assay csv 1");
    for (int j = first; j < file->row_count; j++) {
        if (strcmp(file->rows[j].run.id, file->rows[first].run.id) != 0) continue;
        for (int i = 0; i < file->column_count; i++) {
            const struct csv_column *column = &file->columns[i];
            if (column->field >= id_fields && column->field < id_fields + 2) continue;
            value_text(column->field, (const char *)&file->rows[j] + column->offset, value);
            id_hash_text(&hash, value);
        }
    }
    id_hash_end(&hash, id);
}

static void launch_hash(const char *run_id, int number, char id[ID_SIZE])
{
    struct id_hash hash;
    id_hash_begin(&hash);
    id_hash_text(&hash, run_id);
    id_hash_bytes(&hash, &number, sizeof number);
    id_hash_end(&hash, id);
}

static int store_row(struct store *store, struct csv_row *row, const char *run_id, bool *added)
{
    const struct run_row run = {&row->run,       &row->program, &row->host, row->status,
                                row->started_at, row->ended_at, true};
    const struct launch_row launch = {&row->launch, row->started_at, true};
    const struct result_row result = {row->launch.id, row->purpose, row->group_label, "",
                                      &row->result,   true};
    snprintf(row->run.id, sizeof row->run.id, "%s", run_id);
    snprintf(row->launch.run_id, sizeof row->launch.run_id, "%s", run_id);
    launch_hash(run_id, row->launch.number, row->launch.id);
    if (run_write(store, &run) != 0 || launch_write(store, &launch) != 0) return -1;
    return result_write(store, &result, added);
}

static int store_rows(struct store *store, struct csv_file *file, int *rows_added)
{
    bool *done = calloc((size_t)file->row_count + 1, sizeof *done);
    int status = done ? 0 : assay_error("%s: cannot import: out of memory", file->name);
    for (int i = 0; status == 0 && i < file->row_count; i++) {
        char original[STORE_ID], id[ID_SIZE];
        if (done[i]) continue;
        snprintf(original, sizeof original, "%s", file->rows[i].run.id);
        run_hash(file, i, id);
        for (int j = i; status == 0 && j < file->row_count; j++) {
            bool added = false;
            if (done[j] || strcmp(file->rows[j].run.id, original) != 0) continue;
            done[j] = true;
            status = store_row(store, &file->rows[j], id, &added);
            *rows_added += added;
        }
    }
    free(done);
    return status;
}

int store_import_csv(struct store *store, const char *name, FILE *in, int *rows_added)
{
    struct csv_file *file = calloc(1, sizeof *file);
    *rows_added = 0;
    if (!file) return assay_error("%s: cannot import: out of memory", name);
    file->name = name;
    file->column_count = columns_list(file->columns);
    int status = read_file(file, in);
    if (status == 0) status = store_begin(store, "import");
    if (status == 0) {
        status = store_finish(store, "import", store_rows(store, file, rows_added));
        if (status != 0) *rows_added = 0;
    }
    free(file->rows);
    free(file);
    return status;
}
