/* show.c - a run in the format that is asked for. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "show/show.h"

static int write_view(FILE *out, const struct view *view, const struct show_options *options)
{
    const char *format = options->format;
    if (!strcmp(format, "table")) return show_table(out, view, options);
    if (!strcmp(format, "md")) return show_md(out, view);
    if (!strcmp(format, "csv")) return show_csv(out, view);
    if (!strcmp(format, "json")) return show_json(out, view);
    return assay_error("a run is shown as table, md, csv or json, not '%s'", format);
}

int show_view(FILE *out, struct view *view, const struct show_options *options)
{
    for (int i = 0; options->ceilings && i < view->count; i++)
        view->rows[i].is_hidden = false;
    int shown = view_select(view, &options->selection);
    if (shown == 0 && options->selection.filter) return 1;
    int failed = shown < 0 ? -1 : write_view(out, view, options);
    if (!failed && (fflush(out) || ferror(out)))
        return assay_error("cannot write the rows: %s", strerror(errno));
    return failed;
}

int show_run(FILE *out, const struct stored_run *run, const struct show_options *options)
{
    struct view view;
    if (view_make(&view, run)) return -1;
    int failed = show_view(out, &view, options);
    view_release(&view);
    return failed;
}
