#include <string.h>

#include "base/text.h"
#include "show/show.h"

static const struct {
    const char *name;
    int (*show)(FILE *out, const struct view *view, const struct show_options *options);
} formats[] = {
    {"table", show_table},
    {"md", show_md},
    {"csv", show_csv},
    {"json", show_json},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static int format_find(const char *name)
{
    const char *names[FORMATS];
    for (int i = 0; i < FORMATS; i++) {
        if (!strcmp(formats[i].name, name)) return i;
        names[i] = formats[i].name;
    }
    const char *near = text_nearest(name, names, FORMATS);
    return assay_error("no format '%s'%s%s%s; there are table, md, csv and json", name,
                       near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

int show_run(FILE *out, const struct stored_run *run, const struct show_options *options)
{
    struct view view;
    int format = format_find(options->format);
    if (format < 0 || view_make(&view, run)) return -1;
    int failed = formats[format].show(out, &view, options);
    view_release(&view);
    if (!failed && (fflush(out) || ferror(out))) return assay_error("cannot write the rows");
    return failed;
}
