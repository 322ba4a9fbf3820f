/* store_csv_import.c - CSV as a run of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "store/exchange/store_csv.h"
#include "store/exchange/store_csv_row.h"

/* A file under import: its rows, and which column stands where. */
struct csv_file {
    const char *name;
    struct csv_column columns[CSV_MAX_COLUMNS];
    int column_count;
    int place[CSV_MAX_COLUMNS]; /* place[i]: which field of a record is column i */
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
        if (!csv_value_parse(column->field, text, (char *)row + column->offset))
            return assay_error("'%.60s' is no value for the column %s", text, column->name);
    }
    if (!csv_metrics_parse(row)) return assay_error("'%.60s' are no metrics", row->metrics);
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
    char value[CSV_VALUE_SIZE];
    id_hash_begin(&hash);
    id_hash_text(&hash, "assay csv 1");
    for (int j = first; j < file->row_count; j++) {
        if (strcmp(file->rows[j].run.id, file->rows[first].run.id) != 0) continue;
        for (int i = 0; i < file->column_count; i++) {
            const struct csv_column *column = &file->columns[i];
            if (column->is_id) continue;
            csv_value_text(column->field, (const char *)&file->rows[j] + column->offset, value);
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
    const struct result_row result = {.launch_id = row->launch.id,
                                      .purpose = row->purpose,
                                      .group_label = row->group_label,
                                      .threshold = row->threshold,
                                      .expect_wrong = row->expect_wrong,
                                      .measured_at = "",
                                      .result = &row->result,
                                      .merge = true};
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
    file->column_count = csv_columns(file->columns);
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
