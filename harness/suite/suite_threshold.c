/* suite_threshold.c - see suite_threshold.h. */
#include "suite/suite_threshold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite/suite_text.h"

/* What suite.c puts before the text of an included file. */
static const char included[] = "; included: ";

static struct suite_threshold *add(struct suite_thresholds *thresholds, int file)
{
    size_t count = (size_t)thresholds->count + 1;
    struct suite_threshold *sections = realloc(thresholds->sections, count * sizeof *sections);
    if (!sections) return NULL;
    thresholds->sections = sections;
    struct suite_threshold *section = &sections[thresholds->count++];
    *section = (struct suite_threshold){.file = file, .threshold = NAN};
    return section;
}

/* "threshold = 3"; any other line leaves the section as it is. */
static void take_key(struct suite_threshold *section, const char *line)
{
    char *end;
    const char *value = suite_text_value(line, "threshold");
    if (!value) return;
    double percent = strtod(value, &end);
    if (end > value && percent > 0) section->threshold = percent / 100;
}

/* Whether a [suite] of this file stands before the section added last. */
static bool has_head(const struct suite_thresholds *thresholds, int file)
{
    for (int i = 0; i < thresholds->count - 1; i++)
        if (thresholds->sections[i].file == file && !thresholds->sections[i].group[0]) return true;
    return false;
}

int suite_thresholds_read(struct suite_thresholds *thresholds, const char *text)
{
    int file = 0;
    *thresholds = (struct suite_thresholds){0};
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, included, strlen(included)) == 0) file++;
        if (*line == '[') {
            struct suite_threshold *section = add(thresholds, file);
            if (!section) {
                suite_thresholds_release(thresholds);
                return assay_error("out of memory for the thresholds of a suite");
            }
            suite_text_heading(line, section->group);
            /* A run of several suites has one text after the other. */
            if (!section->group[0] && has_head(thresholds, file)) section->file = ++file;
        } else if (thresholds->count > 0) {
            take_key(&thresholds->sections[thresholds->count - 1], line);
        }
    }
    return 0;
}

void suite_thresholds_release(struct suite_thresholds *thresholds)
{
    free(thresholds->sections);
    *thresholds = (struct suite_thresholds){0};
}

/* Of the [suite] of one file; NAN none. */
static double of_file(const struct suite_thresholds *thresholds, int file)
{
    for (int i = 0; i < thresholds->count; i++) {
        const struct suite_threshold *section = &thresholds->sections[i];
        if (section->file == file && !section->group[0]) return section->threshold;
    }
    return NAN;
}

double suite_threshold_of(const struct suite_thresholds *thresholds, const char *group)
{
    double least = NAN;
    for (int i = 0; i < thresholds->count; i++) {
        const struct suite_threshold *section = &thresholds->sections[i];
        if (!group[0] || strcmp(section->group, group) != 0) continue;
        double own = section->threshold;
        if (isnan(own)) own = of_file(thresholds, section->file);
        if (isnan(own)) own = of_file(thresholds, 0);
        least = fmin(least, own); /* the other one where one is NAN */
    }
    return least;
}
