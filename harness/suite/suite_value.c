/* suite_value.c - the value of a dim's key in a suite. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "case/shape.h"
#include "suite/size_class.h"
#include "suite/suite_value.h"

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

int suite_words_split(struct suite_words *words, const char *list)
{
    words->count = 0;
    if (text_copy(words->text, sizeof words->text, list))
        return assay_error("the list is too long");
    if (!*trim(words->text)) return assay_error("the list is empty");
    char *rest = words->text;
    for (char *word; (word = strsep(&rest, ","));) {
        if (words->count == SUITE_MAX_WORDS)
            return assay_error("the list has more than %d items", SUITE_MAX_WORDS);
        word = trim(word);
        if (!*word) return assay_error("an item of the list is empty");
        words->word[words->count++] = word;
    }
    return 0;
}

/* ---------------------------------------------------------------- values -- */

/* Of a range with a factor: a hundred times as many as a list may have values, of which a factor
 * near 1 rounds several to the same one. */
enum { MOST_STEPS = 100 * SUITE_MAX_VALUES };

struct value_list {
    const struct assay_dim *dim;
    struct suite_value *item;
    int count;
};

static bool is_same_value(const struct suite_value *a, const struct suite_value *b)
{
    return a->class_name == b->class_name && a->times == b->times && a->value == b->value;
}

/* A value that is named again adds nothing: every combination of the dims' values is made, and
 * where several dims repeat themselves these would be too many to be made at all. */
static int append(struct value_list *list, struct suite_value value)
{
    for (int i = 0; i < list->count; i++)
        if (is_same_value(&list->item[i], &value)) return 0;
    if (list->count == SUITE_MAX_VALUES)
        return assay_error("%s has more than %d values", list->dim->name, SUITE_MAX_VALUES);
    return grow_keep(&list->item, &list->count, &value, sizeof value, "the values of a dim");
}

static int append_number(struct value_list *list, int64_t value)
{
    int64_t min, max;
    shape_range(list->dim, &min, &max);
    if (value < min || value > max)
        return assay_error("%s = %" PRId64 " is out of its range, %" PRId64 " to %" PRId64,
                           list->dim->name, value, min, max);
    return append(list, (struct suite_value){.value = value});
}

static int parse_number(const struct assay_dim *dim, const char *text, int64_t *value)
{
    if (text_parse_count(text, value)) return 0;
    const char *class_name = text_nearest(text, size_class_names, SIZE_CLASSES);
    if (class_name)
        return assay_error("%s: '%s' is not a size (did you mean '%s'?)", dim->name, text,
                           class_name);
    return assay_error("%s: '%s' is not a size (500000, 500k, 2Mi, 1..8*2, l2, 2*vram are)",
                       dim->name, text);
}

/* A finite number above zero that is all of `text`. */
static bool parse_factor(const char *text, double *factor)
{
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    *factor = strtod(text, &end);
    return !*end && isfinite(*factor) && *factor > 0;
}

/* The class's own name where `text` is "CLASS" or "FACTOR*CLASS", else NULL. */
static const char *parse_class(char *text, double *times)
{
    char *star = strchr(text, '*');
    const char *word = star ? trim(star + 1) : text;
    for (int i = 0; i < SIZE_CLASSES; i++) {
        if (strcmp(word, size_class_names[i])) continue;
        *times = 1;
        if (!star) return size_class_names[i];
        *star = '\0';
        return parse_factor(trim(text), times) ? size_class_names[i] : NULL;
    }
    return NULL;
}

static int append_geometric(struct value_list *list, int64_t first, int64_t last, double factor)
{
    int64_t previous = first - 1;
    double exact = (double)first;
    /* In doubles: the next value may be beyond what an integer holds. */
    for (int steps = 0; exact < (double)last + 0.5; exact *= factor) {
        if (steps++ == MOST_STEPS)
            return assay_error("%s: a range's factor so near to 1 takes more than %d steps",
                               list->dim->name, MOST_STEPS);
        /* A small factor rounds to the same whole number more than once. */
        if (llround(exact) > previous && append_number(list, llround(exact))) return -1;
        previous = llround(exact);
    }
    return 0;
}

static int append_arithmetic(struct value_list *list, int64_t first, int64_t last, int64_t step)
{
    for (int64_t value = first; value <= last; value += step) {
        if (append_number(list, value)) return -1;
        if (value > INT64_MAX - step) break;
    }
    return 0;
}

/* "A..B*F" or "A..B+S"; `dots` is where the two dots are. */
static int append_range(struct value_list *list, char *text, char *dots)
{
    const char *name = list->dim->name;
    char *sign = dots + 2 + strcspn(dots + 2, "*+");
    if (!*sign)
        return assay_error("%s: the range '%s' needs *FACTOR or +STEP at its end", name, text);
    bool is_geometric = *sign == '*';
    *sign = *dots = '\0';
    int64_t first, last, step = 0;
    int64_t min, max;
    double factor = 0;
    shape_range(list->dim, &min, &max);
    if (parse_number(list->dim, trim(text), &first)) return -1;
    if (parse_number(list->dim, trim(dots + 2), &last)) return -1;
    if (last < first)
        return assay_error("%s: a range that ends (%" PRId64 ") before it begins (%" PRId64 ")",
                           name, last, first);
    char *by = trim(sign + 1);
    if (is_geometric) {
        if (!parse_factor(by, &factor) || factor <= 1)
            return assay_error("%s: '*%s': a range's factor is a number above 1", name, by);
        if (factor > (double)max)
            return assay_error(
                "%s: '*%s': no size is so many times another (the largest is %" PRId64 ")", name,
                by, max);
        if (first < 1) return assay_error("%s: a range with a factor begins at 1 or above", name);
        return append_geometric(list, first, last, factor);
    }
    if (!text_parse_count(by, &step) || step < 1)
        return assay_error("%s: '+%s': a range's step is a whole number above 0", name, by);
    return append_arithmetic(list, first, last, step);
}

static int append_size(struct value_list *list, char *text)
{
    char *dots = strstr(text, "..");
    if (dots) return append_range(list, text, dots);
    char word[SUITE_MAX_VALUE];
    if (text_copy(word, sizeof word, text)) return assay_error("the list is too long");
    struct suite_value value = {.class_name = parse_class(word, &value.times)};
    if (value.class_name) return append(list, value);
    if (parse_number(list->dim, text, &value.value)) return -1;
    return append_number(list, value.value);
}

static int append_choice(struct value_list *list, const char *text)
{
    const struct assay_dim *dim = list->dim;
    int64_t min, max;
    shape_range(dim, &min, &max);
    if (!strcmp(text, "*")) {
        for (int64_t i = min; i <= max; i++)
            if (append_number(list, i)) return -1;
        return 0;
    }
    int choice = shape_choice(dim, text);
    if (choice >= 0) return append_number(list, choice);
    char hint[TEXT_HINT];
    return assay_error("%s has no choice '%s'%s", dim->name, text,
                       text_hint(hint, text, dim->choices, (int)max + 1, "it has "));
}

int suite_values(const struct assay_dim *dim, const char *list, struct suite_value **values)
{
    struct suite_words words;
    struct value_list found = {.dim = dim};
    *values = NULL;
    if (suite_words_split(&words, list)) return -1;
    for (int i = 0; i < words.count; i++) {
        int failed = dim->choices ? append_choice(&found, words.word[i])
                                  : append_size(&found, words.word[i]);
        if (failed) {
            free(found.item);
            return -1;
        }
    }
    *values = found.item;
    return found.count;
}
