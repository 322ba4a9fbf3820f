/* report.c - which format writes a report. */
#include <string.h>

#include "report/report.h"

static const struct {
    const char *name;
    int (*write)(FILE *out, const struct report *report);
} formats[] = {{"html", report_html}, {"md", report_md}};

int report_write(FILE *out, const struct report *report, const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, format)) return formats[i].write(out, report);
    return assay_error("a report is not written as '%s'", format);
}
