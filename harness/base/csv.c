#include "base/csv.h"

#include <string.h>

void csv_write(FILE *out, const char *field, char after)
{
    if (strpbrk(field, ",\"\r\n")) {
        fputc('"', out);
        for (const char *c = field; *c; c++) {
            if (*c == '"') fputc('"', out);
            fputc(*c, out);
        }
        fputc('"', out);
    } else {
        fputs(field, out);
    }
    fputc(after, out);
}
