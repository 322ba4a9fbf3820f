#include <string.h>

#include "assay.h"
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

int comparison_write(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, options->format) == 0)
            return formats[i].write(out, comparison, options);
    return assay_error("a comparison is not written as '%s'", options->format);
}
