#include "export/prometheus.h"

/* For text within quotes. */
static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

void prometheus_label(FILE *out, char before, const char *name, const char *value)
{
    fprintf(out, "%c%s=\"", before, name);
    write_escaped(out, value);
    fputc('"', out);
}

void prometheus_help(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

void prometheus_value(FILE *out, double value)
{
    fprintf(out, "} %.9g\n", value);
}
