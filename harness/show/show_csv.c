/* show_csv.c - a run as comma-separated values (RFC 4180): one line per row, plain numbers in
 * base units, an empty field for what was not measured. */
#include <math.h>

#include "base/markup.h"
#include "show/show.h"

static void number_field(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.9g,", value);
    else
        fputc(',', out);
}

static const char columns[] =
    "run,suite,device,group,operation,shape,temperature,variant,kind,place,status,clock,launches,"
    "samples,time_ns,lo_ns,hi_ns,busy_ns,event_ns,wall_ns,first_call_ns,bytes,ops,rate_per_s,"
    "rate_unit,ceiling,ceiling_fraction,baseline,speedup,speedup_lo,speedup_hi,workspace_bytes,"
    "energy_mj,noisy,reason";

static void row_names(FILE *out, const struct view *view, const struct view_row *row)
{
    const struct stored_run *run = view->run;
    const struct case_result *result = &row->result;
    csv_write(out, run->run.id, ',');
    csv_write(out, run->run.suite, ',');
    csv_write(out, run->launch_count ? run->launches[0].device.name : "", ',');
    csv_write(out, row->stored->group_label, ',');
    csv_write(out, result->id.operation, ',');
    csv_write(out, result->id.shape, ',');
    csv_write(out, temperature_name(result->id.temperature), ',');
    csv_write(out, result->id.variant, ',');
    csv_write(out, kind_name(result->id.kind), ',');
    csv_write(out, place_name(result->id.place), ',');
    csv_write(out, status_name(result->status), ',');
    csv_write(out, clock_name(result->clock), ',');
}

static void row_figures(FILE *out, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    fprintf(out, "%d,%d,", row->launches, row->samples);
    const double times[] = {result->time_ns,      result->lo_ns,    result->hi_ns,
                            result->busy_ns,      result->event_ns, result->wall_ns,
                            result->first_call_ns};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        number_field(out, times[i]);
    number_field(out, view_bytes(&result->work));
    number_field(out, view_ops(&result->work));
    number_field(out, row->rate);
    csv_write(out, isnan(row->rate) ? "" : row->rate_is_ops ? "op/s" : "B/s", ',');
    csv_write(out, row->ceiling, ',');
    number_field(out, row->ceiling_fraction);
    csv_write(out, row->baseline, ',');
    number_field(out, row->speedup.mid);
    number_field(out, row->speedup.lo);
    number_field(out, row->speedup.hi);
    number_field(out, result->workspace_bytes >= 0 ? (double)result->workspace_bytes : NAN);
    number_field(out, result->energy_mj);
    fprintf(out, "%d,", row->is_noisy);
}

/* The last field is always quoted. */
static void row_reason(FILE *out, const char *reason)
{
    fputc('"', out);
    for (; *reason; reason++) {
        if (*reason == '"') fputc('"', out);
        fputc(*reason, out);
    }
    fputs("\"\n", out);
}

int show_csv(FILE *out, const struct view *view)
{
    fprintf(out, "%s\n", columns);
    for (int i = 0; i < view->count; i++) {
        if (view->rows[i].is_hidden) continue;
        row_names(out, view, &view->rows[i]);
        row_figures(out, &view->rows[i]);
        row_reason(out, view->rows[i].result.reason);
    }
    return 0;
}
