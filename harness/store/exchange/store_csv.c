/* store_csv.c - a run as CSV. */
#include "store/exchange/store_csv.h"

#include <errno.h>
#include <string.h>

#include "base/csv.h"
#include "store/exchange/store_csv_row.h"

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
    row->threshold = stored->threshold;
    row->expect_wrong = stored->expect_wrong;
    snprintf(row->group_label, sizeof row->group_label, "%s", stored->group_label);
    snprintf(row->started_at, sizeof row->started_at, "%s", run->started_at);
    snprintf(row->ended_at, sizeof row->ended_at, "%s", run->ended_at);
    snprintf(row->status, sizeof row->status, "%s", run->status);
    csv_metrics_text(row);
}

int store_export_csv(struct store *store, const char *run_id, FILE *out)
{
    struct csv_column columns[CSV_MAX_COLUMNS];
    int count = csv_columns(columns);
    struct stored_run run;
    struct csv_row row;
    char value[CSV_VALUE_SIZE];

    if (store_read_run(store, run_id, false, &run) != 0) return -1;
    for (int i = 0; i < count; i++)
        csv_write(out, columns[i].name, i + 1 < count ? ',' : '\n');
    for (int j = 0; j < run.case_count && !ferror(out); j++) {
        row_fill(&row, &run, &run.cases[j]);
        for (int i = 0; i < count; i++) {
            csv_value_text(columns[i].field, (const char *)&row + columns[i].offset, value);
            csv_write(out, value, i + 1 < count ? ',' : '\n');
        }
    }
    stored_run_release(&run);
    if (fflush(out) == 0 && !ferror(out)) return 0;
    return assay_error("%s: cannot write the export: %s", store->path, strerror(errno));
}
