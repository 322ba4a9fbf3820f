/*
 * store_csv_row.h - one line of CSV: its columns, by the tables of fields that
 * the database has too, and its values as text.
 */
#ifndef STORE_CSV_ROW_H
#define STORE_CSV_ROW_H

#include "store/store_internal.h"
#include "store/store_rows.h"

enum { CSV_VALUE_SIZE = 4 * ASSAY_MAX_REASON, CSV_MAX_COLUMNS = 160, CSV_MAX_COLUMN_NAME = 64 };

/* Everything that one line of CSV says. */
struct csv_row {
    struct run_info run;
    char started_at[TIMESTAMP_SIZE], ended_at[TIMESTAMP_SIZE], status[24];
    struct program_info program;
    struct host_info host;
    struct launch_info launch;
    int32_t purpose; /* enum group_purpose */
    double threshold;
    int32_t expect_wrong;
    char group_label[ASSAY_MAX_NAME];
    struct case_result result;
    char metrics[ASSAY_MAX_METRICS * (ASSAY_MAX_NAME + NUMBER_SIZE)]; /* "mse=0.1 max=2" */
};

/* One column: its name and where in a row it stands. */
struct csv_column {
    char name[CSV_MAX_COLUMN_NAME];
    const struct field *field;
    size_t offset;
    bool is_id; /* of the run or the launch */
};

/* All columns, left to right; how many. */
int csv_columns(struct csv_column columns[CSV_MAX_COLUMNS]);

/* The value at `at`; "" for one that was not measured. */
void csv_value_text(const struct field *field, const void *at, char text[CSV_VALUE_SIZE]);
/* False when the text is no value of the field. */
bool csv_value_parse(const struct field *field, const char *text, void *at);

/* row->metrics from row->result's, and back; false when it is not of the form. */
void csv_metrics_text(struct csv_row *row);
bool csv_metrics_parse(struct csv_row *row);

#endif
