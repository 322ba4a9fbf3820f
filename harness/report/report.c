/* report.c - which format writes a report. */
#include <string.h>

#include "report/report.h"

static const struct {
    const char *name;
    int (*write)(FILE *out, const struct report *report);
} formats[] = {{"html", report_html}, {"md", report_md}};

bool report_knows_format(const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, format)) return true;
    assay_error("no format is called '%s' (there are html, md)", format);
    return false;
}

int report_write(FILE *out, const struct report *report, const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, format)) return formats[i].write(out, report);
    return report_knows_format(format) ? 0 : -1;
}
