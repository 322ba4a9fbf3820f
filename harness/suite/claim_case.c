/* claim_case.c - the two cases of a claim: read, checked, and as groups of a suite. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/shape.h"
#include "suite/claim.h"
#include "suite/plan.h"
#include "suite/suite_check.h"
#include "suite/suite_file.h"
#include "suite/suite_value.h"

static int add_key(struct suite_group *group, int line, const char *name, const char *value)
{
    if (suite_key_find(group, name)) return assay_error("'%s' is there twice", name);
    struct suite_key *key = suite_key_add(group, line);
    if (!key) return -1;
    if (text_copy(key->name, sizeof key->name, name) ||
        text_copy(key->value, sizeof key->value, value))
        return assay_error("'%s=%s' is too long", name, value);
    return 0;
}

/* One word behind the variant: dim=value, cold, hot, host or cuda. */
static int case_word(struct claim_case *side, char *word)
{
    char *value = strchr(word, '=');
    if (!value && temperature_parse(word) >= 0) {
        side->temperature = (enum assay_temperature)temperature_parse(word);
        return add_key(&side->group, side->line, "temperature", word);
    }
    if (!value && place_parse(word) >= 0) return add_key(&side->group, side->line, "device", word);
    if (!value) return assay_error("'%s' is neither dim=value nor cold, hot, host or cuda", word);
    *value++ = '\0';
    if (registry_is_group_key(word)) return assay_error("'%s' has no place in a case", word);
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

int claim_case_read(struct claim *claim, int which, const struct suite_key *key)
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

static const char *said_place(const struct claim_case *side)
{
    const struct suite_key *key = suite_key_find(&side->group, "device");
    return key ? key->value : "";
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
            claim->side[0].temperature == side->temperature &&
            !strcmp(said_place(&claim->side[0]), said_place(side))) {
            struct suite_key *variants = &groups[0].keys[1];
            snprintf(variants->value, sizeof variants->value, "%s, %s", claim->side[0].variant,
                     side->variant);
            continue;
        }
        count++;
    }
    return count;
}
