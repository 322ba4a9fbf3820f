/* suite_check.c - whether what a suite's sections say is possible. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "case/registry.h"
#include "case/result.h"
#include "case/shape.h"
#include "suite/plan.h"
#include "suite/suite_check.h"
#include "suite/suite_file.h"
#include "suite/suite_value.h"

/* -------------------------------------------------------------- settings -- */

#define AT(member) offsetof(struct suite, member), offsetof(struct group, member)
const struct suite_setting suite_settings[SUITE_SETTINGS] = {
    {"budget", 3600, false, "seconds", 0.5, AT(budget_s)},
    {"precision", 100, false, "per cent", 0.5, AT(precision_pct)},
    {"energy", 3600, true, "seconds", 0, AT(energy_s)},
    {"timeout", 86400, false, "seconds", 60, AT(timeout_s)},
    {"threshold", SUITE_MOST_THRESHOLD_PCT, false, "per cent", 0, AT(threshold_pct)},
};
#undef AT

static const struct suite_setting *setting_named(const char *name)
{
    int i = rows_find(ROWS(suite_settings), name);
    return i < 0 ? NULL : &suite_settings[i];
}

int suite_setting_read(const struct suite_setting *setting, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    bool in_range = *value > 0 || (*value == 0 && setting->may_be_zero);
    if (end == text || *end || !isfinite(*value) || !in_range || *value > setting->max)
        return assay_error("%s = %s: not a number of %s above 0 and at most %g%s", setting->name,
                           text, setting->unit, setting->max, setting->may_be_zero ? ", or 0" : "");
    return 0;
}

/* ------------------------------------------------------------ suggestions -- */

static int unknown_dim(const struct assay_operation *operation, const char *name)
{
    const char *words[ASSAY_MAX_DIMS];
    int dims = shape_dims(operation);
    char all[512] = "";
    for (int i = 0; i < dims; i++) {
        words[i] = operation->dims[i].name;
        text_add(all, sizeof all, ", ", "%s", words[i]);
    }
    const char *near = text_nearest(name, words, dims);
    if (!near)
        for (int keys = 0; !near && registry_group_keys[keys]; keys++)
            near = text_nearest(name, &registry_group_keys[keys], 1);
    if (near)
        return assay_error("%s has no dim '%s' (did you mean '%s'? its dims: %s)", operation->name,
                           name, near, dims ? all : "none");
    return assay_error("%s has no dim '%s' (its dims: %s)", operation->name, name,
                       dims ? all : "none");
}

/* --------------------------------------------------------------- variants -- */

bool suite_chooses(const char *patterns, const char *name)
{
    struct suite_words words;
    if (suite_words_split(&words, patterns)) return false;
    bool chosen = words.word[0][0] == '!';
    for (int i = 0; i < words.count; i++) {
        bool puts_in = words.word[i][0] != '!';
        if (text_glob(words.word[i] + !puts_in, name)) chosen = puts_in;
    }
    return chosen;
}

/* A program that was built without CUDA does not know the names of its CUDA
 * variants, so there a name that matches nothing says nothing. */
static bool knows_all_variants(void)
{
    const struct assay_variant *const *variants;
    int count = registry_all_variants(&variants), i = 0;
    while (i < count && variants[i]->place != ASSAY_CUDA)
        i++;
    return i < count;
}

static int check_pattern(const struct assay_operation *operation, const char *pattern)
{
    if (pattern[strcspn(pattern, " \t")])
        return assay_error("'%s' has a blank in it: commas part names", pattern);
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    const char *names[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation->name, variants, REGISTRY_MAX_VARIANTS);
    int known = 0;
    for (int i = 0; i < count; i++) {
        int same = 0;
        names[known] = variants[i]->name;
        if (text_glob(pattern, names[known])) return 0;
        while (strcmp(names[same], names[known]) != 0)
            same++;
        known += same == known; /* one that is there for both places is named once */
    }
    if (!knows_all_variants()) return 0;
    char hint[TEXT_HINT];
    return assay_error("no variant of %s matches '%s'%s", operation->name, pattern,
                       text_hint(hint, pattern, names, known, "there are "));
}

/* ------------------------------------------------------------------- keys -- */

static int check_variants(const struct assay_operation *operation, const struct suite_key *key)
{
    struct suite_words words;
    if (suite_words_split(&words, key->value)) return -1;
    for (int i = 0; i < words.count; i++)
        if (check_pattern(operation, words.word[i] + (words.word[i][0] == '!'))) return -1;
    return 0;
}

static int check_baseline(const struct assay_operation *operation, const struct suite_key *key)
{
    if (!*key->value || key->value[strcspn(key->value, "*?[, ")])
        return assay_error("baseline = %s: this is the name of one variant", key->value);
    return check_pattern(operation, key->value);
}

static int check_temperature(const struct assay_operation *operation, const struct suite_key *key)
{
    struct suite_words words;
    (void)operation;
    if (suite_words_split(&words, key->value)) return -1;
    for (int i = 0; i < words.count; i++)
        if (temperature_parse(words.word[i]) < 0)
            return assay_error("no temperature is called '%s' (there are cold, hot)",
                               words.word[i]);
    return 0;
}

static int check_device(const struct assay_operation *operation, const struct suite_key *key)
{
    (void)operation;
    if (place_parse(key->value) < 0)
        return assay_error("device = %s: a group is for 'cuda' or 'host'", key->value);
    return 0;
}

/* The keys of registry_group_keys that are no settings, each with its check; operation is first. */
static const struct {
    const char *name;
    int (*check)(const struct assay_operation *operation, const struct suite_key *key);
} group_rules[] = {
    {"operation", NULL},      {"variants", check_variants}, {"temperature", check_temperature},
    {"device", check_device}, {"baseline", check_baseline}, {"expect_wrong", check_variants},
};

static int check_dim(const struct assay_operation *operation, const struct suite_key *key,
                     int *classes)
{
    int dim = shape_dim(operation, key->name);
    if (dim < 0) return unknown_dim(operation, key->name);
    struct suite_value *values;
    int count = suite_values(&operation->dims[dim], key->value, &values);
    if (count < 0) return -1;
    bool has_class = false;
    for (int i = 0; i < count; i++)
        has_class = has_class || values[i].class_name;
    free(values);
    *classes += has_class;
    /* Two would leave open which one gives way. */
    if (*classes > 1)
        return assay_error("%s: only one dim of a group can have a size class", key->name);
    return 0;
}

static int check_key(const struct assay_operation *operation, const struct suite_key *key,
                     int *classes)
{
    const struct suite_setting *setting = setting_named(key->name);
    double value;
    if (setting) return suite_setting_read(setting, key->value, &value);
    int rule = rows_find(ROWS(group_rules), key->name);
    if (rule < 0) return check_dim(operation, key, classes);
    return group_rules[rule].check ? group_rules[rule].check(operation, key) : 0;
}

int suite_check_group(const struct suite_group *group)
{
    const struct suite_key *named = suite_key_find(group, "operation");
    if (!named)
        return suite_error(group->file, group->line, "group '%s' has no operation", group->label);
    const struct assay_operation *operation = registry_operation(named->value);
    if (!operation) {
        registry_no_operation(named->value);
        return suite_error_here(group->file, named->line);
    }
    int classes = 0;
    for (int i = 0; i < group->key_count; i++)
        if (check_key(operation, &group->keys[i], &classes))
            return suite_error_here(group->file, group->keys[i].line);
    return 0;
}

int suite_check_head(const struct suite_group *head)
{
    static const char *const texts[] = {"title", "include", "load"};
    enum { TEXTS = sizeof texts / sizeof *texts, KNOWN = TEXTS + SUITE_SETTINGS };
    const char *known[KNOWN];
    memcpy(known, texts, sizeof texts);
    for (int i = 0; i < SUITE_SETTINGS; i++)
        known[TEXTS + i] = suite_settings[i].name;
    for (int i = 0; i < head->key_count; i++) {
        const struct suite_key *key = &head->keys[i];
        const struct suite_setting *setting = setting_named(key->name);
        double value;
        if (setting && suite_setting_read(setting, key->value, &value))
            return suite_error_here(head->file, key->line);
        if (setting || rows_find(ROWS(texts), key->name) >= 0) continue;
        char hint[TEXT_HINT];
        return suite_error(head->file, key->line, "[suite] has no key '%s'%s", key->name,
                           text_hint(hint, key->name, known, KNOWN, "there are "));
    }
    return 0;
}
