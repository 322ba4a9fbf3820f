/* report_options.c - see report_options.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "cmd/report_options.h"

int option_percent(const char *name, const char *text, double *fraction)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !(value > 0 && value <= 1000))
        return assay_error("--%s wants a percentage above 0, not '%s'", name, text);
    *fraction = value / 100;
    return 0;
}

int option_count(const char *name, const char *text, int least, int most, int *count)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return assay_error("--%s wants a whole number from %d to %d, not '%s'", name, least, most,
                           text);
    *count = (int)value;
    return 0;
}

int option_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    if (errno || end == text || *end || text[0] == '-')
        return assay_error("--seed wants a whole number, not '%s'", text);
    return 0;
}

int option_metric(const char *text, bool *speedup)
{
    *speedup = strcmp(text, "speedup") == 0;
    if (*speedup || strcmp(text, "time") == 0) return 0;
    return assay_error("--metric is time or speedup, not '%s'", text);
}
