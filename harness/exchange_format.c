/* exchange_format.c - the formats that runs are exchanged in. */
#include "exchange_format.h"

#include <string.h>

#include "store_csv.h"
#include "text.h"

enum { FORMATS = 2 };

static const struct exchange_format formats[FORMATS] = {
    {"ndjson", ".ndjson", store_export_ndjson, store_import_ndjson},
    {"csv", ".csv", store_export_csv, store_import_csv},
};

const struct exchange_format *exchange_format_named(const char *name)
{
    const char *names[FORMATS];
    for (int i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        if (strcmp(name, names[i]) == 0) return &formats[i];
    }
    const char *nearest = text_nearest(name, names, FORMATS);
    if (nearest)
        assay_error("unknown format '%s' (did you mean '%s'?)", name, nearest);
    else
        assay_error("unknown format '%s' (ndjson or csv)", name);
    return NULL;
}

const struct exchange_format *exchange_format_of(const char *path)
{
    size_t length = strlen(path);
    for (int i = 0; i < FORMATS; i++) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && strcmp(path + length - ending, formats[i].ending) == 0)
            return &formats[i];
    }
    return NULL;
}

const struct exchange_format *exchange_format_sniff(FILE *in)
{
    int first = getc(in);
    if (first != EOF) ungetc(first, in);
    return &formats[first == '{' || first == EOF ? 0 : 1];
}
