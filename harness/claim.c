/* claim.c - one [claim] section, read and checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "device.h"
#include "plan.h"
#include "registry.h"
#include "result.h"
#include "shape.h"
#include "suite_check.h"
#include "suite_file.h"
#include "suite_value.h"
#include "text.h"
#include "units.h"

static const char *const quantities[] = {
    [CLAIM_TIME] = "time",
    [CLAIM_WALL] = "wall",
    [CLAIM_FIRST_CALL] = "first_call",
    [CLAIM_BYTES] = "bytes",
    [CLAIM_WORKSPACE] = "workspace_bytes",
    [CLAIM_LAUNCHES] = "launches",
};
static const char *const rules[] = {[RULE_RATIO] = "ratio",
                                    [RULE_VALUE] = "value",
                                    [RULE_DIFFERENCE] = "difference",
                                    [RULE_NONE] = "none"};
static const char *const side_keys[] = {[CLAIM_MORE] = "more", [CLAIM_LESS] = "less"};

const char *claim_quantity_name(enum claim_quantity quantity)
{
    return quantity == CLAIM_METRIC ? "quality" : quantities[quantity];
}

static int word_index(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], word)) return i;
    return -1;
}

/* ----------------------------------------------------------------- cases -- */

static int add_key(struct suite_group *group, int line, const char *name, const char *value)
{
    if (group->key_count == SUITE_MAX_KEYS) return assay_error("too many dims");
    if (suite_key_find(group, name)) return assay_error("'%s' is there twice", name);
    struct suite_key *key = &group->keys[group->key_count++];
    key->line = line;
    if (text_copy(key->name, sizeof key->name, name) ||
        text_copy(key->value, sizeof key->value, value))
        return assay_error("'%s=%s' is too long", name, value);
    return 0;
}

/* One word behind the variant: dim=value, cold or hot. */
static int case_word(struct claim_case *side, char *word)
{
    char *value = strchr(word, '=');
    if (!value && temperature_parse(word) >= 0) {
        side->temperature = (enum assay_temperature)temperature_parse(word);
        return add_key(&side->group, side->line, "temperature", word);
    }
    if (!value) return assay_error("'%s' is neither dim=value nor cold nor hot", word);
    *value++ = '\0';
    for (int i = 0; registry_group_keys[i]; i++)
        if (!strcmp(registry_group_keys[i], word))
            return assay_error("'%s' has no place in a case", word);
    return add_key(&side->group, side->line, word, value);
}

static int case_words(struct claim_case *side, const char *text)
{
    char words[SUITE_MAX_VALUE], *rest = words;
    text_copy(words, sizeof words, text);
    char *name = strsep(&rest, " \t");
    char *slash = strchr(name, '/');
    if (!slash || slash == name || !slash[1])
        return assay_error("'%s': a case begins with operation/variant", name);
    *slash = '\0';
    if (text_copy(side->operation, sizeof side->operation, name) ||
        text_copy(side->variant, sizeof side->variant, slash + 1))
        return assay_error("the name is longer than %d characters", ASSAY_MAX_NAME - 1);
    if (slash[1 + strcspn(slash + 1, "*?[!,")])
        return assay_error("'%s': a case is of one variant", slash + 1);
    if (add_key(&side->group, side->line, "operation", side->operation) ||
        add_key(&side->group, side->line, "variants", side->variant))
        return -1;
    for (char *word; (word = strsep(&rest, " \t"));)
        if (*word && case_word(side, word)) return -1;
    return 0;
}

/* The one shape of a group that has been checked. */
static int case_shape(struct claim_case *side)
{
    const struct assay_operation *operation = registry_operation(side->operation);
    side->shape = shape_default(operation);
    for (int i = 0; i < side->group.key_count; i++) {
        const struct suite_key *key = &side->group.keys[i];
        int dim = shape_dim(operation, key->name);
        if (dim < 0) continue;
        struct suite_value *values;
        int count = suite_values(&operation->dims[dim], key->value, &values);
        bool is_one = count == 1 && !values[0].class_name;
        if (is_one) side->shape.value[dim] = values[0].value;
        if (count >= 0) free(values);
        if (count >= 0 && !is_one)
            return suite_error(side->group.file, key->line, "%s=%s: a case has one number there",
                               key->name, key->value);
        if (count < 0) return -1;
    }
    return 0;
}

/* A claim that awaits its cases keeps the complaint as the reason. */
static int check_case(struct claim *claim, struct claim_case *side)
{
    if (!suite_check_group(&side->group)) return case_shape(side);
    if (!claim->awaits) return -1;
    const char *message = assay_last_error();
    size_t place = strlen(claim->file);
    if (!strncmp(message, claim->file, place))
        message += place + strspn(message + place, ":0123456789 ");
    snprintf(claim->missing, sizeof claim->missing, "no such case in this program: %.*s",
             (int)strcspn(message, "("), message);
    for (size_t end = strlen(claim->missing); end && claim->missing[end - 1] == ' '; end--)
        claim->missing[end - 1] = '\0';
    assay_clear_error();
    return 0;
}

static int read_case(struct claim *claim, int which, const struct suite_key *key)
{
    struct claim_case *side = &claim->side[which];
    side->line = key->line;
    side->temperature = ASSAY_COLD;
    side->group.line = claim->line;
    memcpy(side->group.label, claim->id, sizeof side->group.label);
    memcpy(side->group.file, claim->file, sizeof side->group.file);
    if (case_words(side, key->value)) return suite_error_here(claim->file, key->line);
    return check_case(claim, side);
}

void claim_case_text(const struct claim_case *side, char *out, size_t size)
{
    char shape[RESULT_MAX_SHAPE] = "";
    if (side->shape.operation) {
        shape_text(&side->shape, shape, sizeof shape);
    } else {
        for (int i = 0; i < side->group.key_count; i++) {
            const struct suite_key *key = &side->group.keys[i];
            size_t used = strlen(shape);
            if (!strcmp(key->name, "operation")) continue;
            if (strcmp(key->name, "variants") && strcmp(key->name, "temperature"))
                snprintf(shape + used, sizeof shape - used, "%s%s=%s", used ? " " : "", key->name,
                         key->value);
        }
    }
    snprintf(out, size, "%s/%s%s%s, %s", side->operation, side->variant, shape[0] ? " " : "", shape,
             temperature_name(side->temperature));
}

/* --------------------------------------------------------------- figures -- */

static int read_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value) || *value < 0)
        return assay_error("'%s' is not a number", text);
    return 0;
}

/* "4..5", "..0.1", "7..", "1.82". */
static int read_range(struct claim *claim, const char *value)
{
    char text[SUITE_MAX_VALUE];
    text_copy(text, sizeof text, value);
    char *gap = strstr(text, "..");
    if (!gap) {
        if (read_number(text, &claim->least)) return -1;
        claim->most = claim->least;
        return 0;
    }
    *gap = '\0';
    if (!*text && !gap[2]) return assay_error("'%s' is no range", value);
    if (*text && read_number(text, &claim->least)) return -1;
    if (gap[2] && read_number(gap + 2, &claim->most)) return -1;
    if (claim->least > claim->most) return assay_error("'%s' ends before it begins", value);
    return 0;
}

void claim_figure_text(const struct claim *claim, double figure, char out[UNITS_MAX])
{
    bool is_time = claim->quantity <= CLAIM_FIRST_CALL;
    bool is_bytes = claim->quantity == CLAIM_BYTES || claim->quantity == CLAIM_WORKSPACE;
    if (claim->rule == RULE_RATIO)
        snprintf(out, UNITS_MAX, "%gx", figure);
    else if (is_time && !isnan(figure))
        units_time(out, figure);
    else if (is_bytes && !isnan(figure))
        units_bytes(out, figure);
    else
        snprintf(out, UNITS_MAX, "%.3g", figure);
}

void claim_claimed_text(const struct claim *claim, char *out, size_t size)
{
    char least[UNITS_MAX], most[UNITS_MAX];
    claim_figure_text(claim, claim->least, least);
    claim_figure_text(claim, claim->most, most);
    if (isnan(claim->least) && isnan(claim->most))
        snprintf(out, size, "%s", "");
    else if (isnan(claim->least))
        snprintf(out, size, "at most %s", most);
    else if (isnan(claim->most))
        snprintf(out, size, "at least %s", least);
    else if (claim->least == claim->most)
        snprintf(out, size, "%s", least);
    else if (claim->rule == RULE_RATIO)
        snprintf(out, size, "%g to %s", claim->least, most);
    else
        snprintf(out, size, "%s to %s", least, most);
}

/* --------------------------------------------------------------- section -- */

static int take_text(char *out, size_t size, const char *value)
{
    return text_copy(out, size, value) ? assay_error("longer than %zu characters", size - 1) : 0;
}

static int take_document(struct claim *claim, const char *value)
{
    return take_text(claim->document, sizeof claim->document, value);
}

static int take_says(struct claim *claim, const char *value)
{
    return take_text(claim->says, sizeof claim->says, value);
}

static int take_conditions(struct claim *claim, const char *value)
{
    return take_text(claim->conditions, sizeof claim->conditions, value);
}

static int take_note(struct claim *claim, const char *value)
{
    return take_text(claim->note, sizeof claim->note, value);
}

static int take_quantity(struct claim *claim, const char *value)
{
    int index = word_index(value, quantities, CLAIM_METRIC);
    claim->quantity = index < 0 ? CLAIM_METRIC : (enum claim_quantity)index;
    if (index >= 0) return 0;
    if (value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return assay_error("'%s' is no name of a figure", value);
    return take_text(claim->metric, sizeof claim->metric, value);
}

static int take_rule(struct claim *claim, const char *value)
{
    int index = word_index(value, rules, RULE_NONE + 1);
    if (index < 0)
        return assay_error("no rule is called '%s' (there are ratio, value, difference, none)",
                           value);
    claim->rule = (enum claim_rule)index;
    return 0;
}

static int take_awaits(struct claim *claim, const char *value)
{
    claim->awaits = !strcmp(value, "yes");
    return claim->awaits || !strcmp(value, "no") ? 0 : assay_error("awaits is yes or no");
}

/* The keys of a section, but its cases. */
static const struct {
    const char *name;
    int (*take)(struct claim *claim, const char *value);
} keys[] = {
    {"document", take_document}, {"says", take_says},         {"conditions", take_conditions},
    {"claimed", read_range},     {"quantity", take_quantity}, {"rule", take_rule},
    {"awaits", take_awaits},     {"note", take_note},
};
enum { KEYS = sizeof keys / sizeof *keys };

static int take_key(struct claim *claim, const struct suite_key *key)
{
    const char *names[KEYS + CLAIM_SIDES];
    for (int i = 0; i < KEYS; i++) {
        names[i] = keys[i].name;
        if (strcmp(keys[i].name, key->name)) continue;
        return keys[i].take(claim, key->value) ? suite_error_here(claim->file, key->line) : 0;
    }
    memcpy(names + KEYS, side_keys, sizeof side_keys);
    if (word_index(key->name, side_keys, CLAIM_SIDES) >= 0) return 0;
    const char *near = text_nearest(key->name, names, KEYS + CLAIM_SIDES);
    return suite_error(claim->file, key->line, "a claim has no key '%s'%s%s%s", key->name,
                       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* What only the whole section shows. */
static int check_claim(const struct claim *claim)
{
    const char *wrong = NULL;
    bool more = claim->side[CLAIM_MORE].line, less = claim->side[CLAIM_LESS].line;
    bool has_range = !isnan(claim->least) || !isnan(claim->most);
    if (!claim->document[0] || !claim->says[0])
        wrong = "a claim says which document, and what it says";
    else if ((claim->rule == RULE_RATIO || claim->rule == RULE_DIFFERENCE) && !(more && less))
        wrong = "two cases are compared, more and less";
    else if (claim->rule == RULE_VALUE && (!more || less))
        wrong = "a value has one case, more";
    else if (claim->rule != RULE_NONE && !has_range)
        wrong = "what is claimed? (claimed = 7..8)";
    else if (claim->rule == RULE_NONE && !claim->note[0])
        wrong = "the rule is none: the note says why";
    else if (less && !more)
        wrong = "the one case of a claim is called more";
    return wrong ? suite_error(claim->file, claim->line, "claim %s: %s", claim->id, wrong) : 0;
}

int claim_read(struct claim *claim, const struct suite_group *section)
{
    *claim = (struct claim){.line = section->line, .least = NAN, .most = NAN};
    memcpy(claim->id, section->label, sizeof claim->id);
    memcpy(claim->file, section->file, sizeof claim->file);
    for (int i = 0; i < section->key_count; i++)
        if (take_key(claim, &section->keys[i])) return -1;
    for (int i = 0; i < CLAIM_SIDES; i++) {
        const struct suite_key *key = suite_key_find(section, side_keys[i]);
        if (key && read_case(claim, i, key)) return -1;
    }
    return check_claim(claim);
}

/* ---------------------------------------------------------------- groups -- */

/* A suite's group would be an error on a device that has none of its variants. A
 * program that was built without CUDA does not know the variants for it. */
static enum assay_place place_of(const struct claim_case *side, bool *only)
{
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(side->operation, variants, REGISTRY_MAX_VARIANTS);
    bool host = false, cuda = false;
    for (int i = 0; i < count; i++) {
        if (strcmp(variants[i]->name, side->variant)) continue;
        host = host || variants[i]->place == ASSAY_HOST;
        cuda = cuda || variants[i]->place == ASSAY_CUDA;
    }
    *only = !(host && cuda);
    return host ? ASSAY_HOST : ASSAY_CUDA;
}

static void name_device(const struct claim_case *side, struct suite_group *group)
{
    bool only;
    enum assay_place place = place_of(side, &only);
    if (only && !suite_key_find(group, "device"))
        add_key(group, side->line, "device", place_name(place));
}

int claim_groups(const struct claim *claim, struct suite_group groups[CLAIM_SIDES])
{
    int count = 0;
    if (claim->missing[0]) return 0;
    for (int i = 0; i < CLAIM_SIDES; i++) {
        const struct claim_case *side = &claim->side[i];
        if (!side->line) continue;
        groups[count] = side->group;
        name_device(side, &groups[count]);
        if (count && shape_equal(&claim->side[0].shape, &side->shape) &&
            claim->side[0].temperature == side->temperature) {
            struct suite_key *variants = &groups[0].keys[1];
            snprintf(variants->value, sizeof variants->value, "%s, %s", claim->side[0].variant,
                     side->variant);
            continue;
        }
        count++;
    }
    return count;
}
