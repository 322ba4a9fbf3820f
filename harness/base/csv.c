#include "base/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A spreadsheet takes such a text for a formula, and runs it. */
static bool is_formula(const char *field)
{
    char *end;
    if (!field[0] || !field[1] || !strchr("=+-@", field[0])) return false;
    strtod(field, &end);
    return end == field || *end;
}

void csv_write(FILE *out, const char *field, char after)
{
    const char *before = is_formula(field) ? "'" : "";
    if (strpbrk(field, ",\"\r\n")) {
        fprintf(out, "\"%s", before);
        for (const char *c = field; *c; c++) {
            if (*c == '"') fputc('"', out);
            fputc(*c, out);
        }
        fputc('"', out);
    } else {
        fprintf(out, "%s%s", before, field);
    }
    fputc(after, out);
}
