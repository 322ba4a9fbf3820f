#include "export/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int export_read(struct export_run *exported, struct store *store, const char *run_id)
{
    if (store_read_run(store, run_id, true, &exported->run) != 0) return -1;
    if (view_make(&exported->view, &exported->run) == 0) return 0;
    stored_run_release(&exported->run);
    return -1;
}

void export_release(struct export_run *exported)
{
    view_release(&exported->view);
    stored_run_release(&exported->run);
}

bool export_has_time(const struct view_row *row)
{
    return row->result.status == STATUS_OK && !row->is_ceiling && row->result.time_ns > 0;
}

void export_name(const struct view_row *row, char name[EXPORT_NAME])
{
    const struct case_id *id = &row->result.id;
    int used = snprintf(name, EXPORT_NAME, "%s/%s/", id->operation, id->variant);
    for (const char *c = id->shape; *c; c++)
        name[used++] = *c == '=' ? ':' : *c == ' ' ? '/' : *c;
    snprintf(name + used, EXPORT_NAME - (size_t)used, "%s%s/%s", id->shape[0] ? "/" : "",
             temperature_name((enum assay_temperature)id->temperature),
             place_name((enum assay_place)id->place));
}

int export_finish(FILE *out)
{
    if (fflush(out) == 0 && !ferror(out)) return 0;
    return assay_error("cannot write the export: %s", strerror(errno));
}
