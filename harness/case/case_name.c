#include "case/case_name.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *temperature_of(const struct case_id *id)
{
    return temperature_name((enum assay_temperature)id->temperature);
}

void case_text(const struct case_id *id, char out[CASE_TEXT])
{
    snprintf(out, CASE_TEXT, "%s/%s%s%s %s", id->operation, id->variant, id->shape[0] ? " " : "",
             id->shape, temperature_of(id));
}

void case_group_text(const struct case_id *id, char out[CASE_TEXT])
{
    snprintf(out, CASE_TEXT, "%s%s%s %s", id->operation, id->shape[0] ? " " : "", id->shape,
             temperature_of(id));
}

static bool has_name(const struct case_id *id, const char *wanted)
{
    char name[2 * ASSAY_MAX_NAME];
    snprintf(name, sizeof name, "%s/%s", id->operation, id->variant);
    return text_glob(wanted, name) || (!strchr(wanted, '/') && text_glob(wanted, id->operation));
}

static bool has_word(const struct case_id *id, const char *wanted)
{
    char words[RESULT_MAX_SHAPE], *rest = words;
    if (place_parse(wanted) >= 0) return id->place == place_parse(wanted);
    if (text_glob(wanted, temperature_of(id))) return true;
    text_copy(words, sizeof words, id->shape);
    for (char *word; (word = strsep(&rest, " "));)
        if (text_glob(wanted, word)) return true;
    return false;
}

static bool is_state(const char *word)
{
    return temperature_parse(word) >= 0 || place_parse(word) >= 0;
}

/* Between words; line ends as well, as a long sentence is broken within a case. */
#define BETWEEN " \t\n,"

/* The next word of a pattern and whether a comma is before it; false after the last. */
static bool next_word(const char **pattern, char word[CASE_TEXT], bool *after_comma)
{
    size_t gap = strspn(*pattern, BETWEEN);
    *after_comma = memchr(*pattern, ',', gap) != NULL;
    size_t length = strcspn(*pattern + gap, BETWEEN);
    snprintf(word, CASE_TEXT, "%.*s", (int)length, *pattern + gap);
    *pattern += gap + length;
    return length > 0;
}

bool case_matches(const char *pattern, const struct case_id *id)
{
    char word[CASE_TEXT];
    bool matches = false, is_first = true, after_comma;
    if (!pattern) return true;
    case_text(id, word);
    if (!strcmp(pattern, word)) return true; /* imported names may hold blanks, commas, globs */
    for (; next_word(&pattern, word, &after_comma); is_first = false) {
        bool is_name = is_first || (after_comma && !is_state(word));
        if (is_name && matches) return true;
        matches = is_name ? has_name(id, word) : matches && has_word(id, word);
    }
    return matches;
}

bool case_is_word(const char *word)
{
    return strpbrk(word, "=/*?[,") || is_state(word);
}

/* The nearest operation, or the nearest variant of one; NULL: none. */
static const char *nearest(const char *word, const char *operation, const struct case_names *cases,
                           int count)
{
    const char *found = NULL;
    for (int i = 0; i < count; i++) {
        const char *name = operation ? cases[i].variant : cases[i].operation;
        const char *const both[] = {found, name};
        if (!operation || strcmp(cases[i].operation, operation) == 0)
            found = found ? text_nearest(word, both, 2) : text_nearest(word, &name, 1);
    }
    return found;
}

bool case_nearest(const char *pattern, const struct case_names *cases, int count,
                  char out[2 * ASSAY_MAX_NAME])
{
    char word[2 * ASSAY_MAX_NAME];
    text_copy(word, sizeof word, pattern);
    word[strcspn(word, " ,")] = '\0';
    char *variant = strchr(word, '/');
    if (variant) *variant++ = '\0';
    word[strcspn(word, "*?[")] = '\0';
    const char *operation = nearest(word, NULL, cases, count);
    const char *of_it = variant && operation ? nearest(variant, operation, cases, count) : NULL;
    out[0] = '\0';
    if (operation) snprintf(out, 2 * ASSAY_MAX_NAME, "%s/%s", operation, of_it ? of_it : "*");
    return operation != NULL;
}

const char *case_hint(char out[TEXT_HINT], const char *pattern, const struct case_names *cases,
                      int count)
{
    char near[2 * ASSAY_MAX_NAME];
    size_t length = strcspn(pattern, " ,");
    bool found = case_nearest(pattern, cases, count, near);
    bool is_right = found && strncmp(near, pattern, length) == 0 &&
                    (!near[length] || strcmp(near + length, "/*") == 0);
    out[0] = '\0';
    if (found && !is_right) snprintf(out, TEXT_HINT, " (did you mean '%s'?)", near);
    return out;
}
