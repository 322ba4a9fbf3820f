/* suite_text.c - see suite_text.h. */
#include "suite/suite_text.h"

#include <string.h>

#include "base/text.h"

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

void suite_text_heading(const char *line, char label[ASSAY_MAX_NAME])
{
    const char *at = line + 1 + strspn(line + 1, " \t");
    label[0] = '\0';
    if (!begins_with(at, "group") && !begins_with(at, "claim")) return;
    at += strlen("group"); /* or claim, as long */
    at += strspn(at, " \t");
    size_t length = strcspn(at, "]\n");
    while (length > 0 && strchr(" \t", at[length - 1]))
        length--;
    if (length >= ASSAY_MAX_NAME) length = ASSAY_MAX_NAME - 1;
    memcpy(label, at, length);
    label[length] = '\0';
}

const char *suite_text_value(const char *line, const char *key)
{
    if (!begins_with(line, key)) return NULL;
    const char *at = line + strlen(key);
    at += strspn(at, " \t");
    if (*at != '=' && *at != ':') return NULL;
    at++;
    return at + strspn(at, " \t");
}
