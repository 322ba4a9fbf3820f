/* suite_expect.c - see suite_expect.h. */
#include "suite/suite_expect.h"

#include <stdio.h>
#include <string.h>

#include "suite/suite_check.h"
#include "suite/suite_text.h"

/* The value up to its end: a comment begins at a ";" with a blank before it. */
static bool chosen_by(const char *value, const char *variant)
{
    char patterns[SUITE_MAX_VALUE];
    size_t length = strcspn(value, "\n");
    snprintf(patterns, sizeof patterns, "%.*s", (int)length, value);
    for (char *at = patterns; (at = strchr(at, ';')); at++)
        if (at > patterns && strchr(" \t", at[-1])) {
            *at = '\0';
            break;
        }
    return suite_chooses(patterns, variant);
}

bool suite_expects_wrong(const char *text, const char *group, const char *variant)
{
    char label[ASSAY_MAX_NAME] = "";
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '[') suite_text_heading(line, label);
        if (!*group || strcmp(label, group) != 0) continue;
        const char *value = suite_text_value(line, "expect_wrong");
        if (value && chosen_by(value, variant)) return true;
    }
    return false;
}
