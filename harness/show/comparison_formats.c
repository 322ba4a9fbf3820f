#include <string.h>

#include "assay.h"
#include "base/text.h"
#include "show/comparison_formats.h"

static const struct {
    const char *name;
    int (*write)(FILE *out, const struct comparison *comparison,
                 const struct comparison_options *options);
} formats[] = {{"table", comparison_table},
               {"md", comparison_md},
               {"json", comparison_json},
               {"html", comparison_html}};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static int find_format(const char *format)
{
    const char *names[FORMATS];
    for (int i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        if (strcmp(names[i], format) == 0) return i;
    }
    const char *near = text_nearest(format, names, FORMATS);
    if (near) return assay_error("unknown format '%s'; did you mean '%s'?", format, near);
    return assay_error("unknown format '%s' (table, md, json or html)", format);
}

bool comparison_knows_format(const char *format)
{
    return find_format(format) >= 0;
}

int comparison_write(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options)
{
    int format = find_format(options->format);
    return format < 0 ? -1 : formats[format].write(out, comparison, options);
}
