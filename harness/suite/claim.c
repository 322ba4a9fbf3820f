/* claim.c - [claim] sections, one and a file of them, read and checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "case/case_name.h"
#include "case/registry.h"
#include "case/shape.h"
#include "suite/claim.h"
#include "suite/suite_file.h"
#include "suite/suite_find.h"

/* As the enums of claim.h have them. */
WORDS(claim_quantity, "time", "wall", "first_call", "bytes", "workspace_bytes", "launches");
WORDS(claim_rule, "ratio", "value", "difference", "none");
WORDS(claim_side, "more", "less");

const char *claim_quantity_name(enum claim_quantity quantity)
{
    return quantity == CLAIM_METRIC ? "quality" : words_name(&claim_quantity_words, (int)quantity);
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
    if (claim->rule == RULE_RATIO || claim->rule == RULE_NONE)
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
    else if (claim->rule == RULE_RATIO || claim->rule == RULE_NONE)
        snprintf(out, size, "%g to %s", claim->least, most);
    else
        snprintf(out, size, "%s to %s", least, most);
}

/* --------------------------------------------------------------- section -- */

static int take_text(char *out, size_t size, const char *value)
{
    return text_copy(out, size, value) ? assay_error("longer than %zu characters", size - 1) : 0;
}

static int take_quantity(struct claim *claim, const char *value)
{
    int index = words_find(&claim_quantity_words, value);
    claim->quantity = index < 0 ? CLAIM_METRIC : (enum claim_quantity)index;
    if (index >= 0) return 0;
    if (value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return assay_error("'%s' is no name of a figure", value);
    return take_text(claim->metric, sizeof claim->metric, value);
}

static int take_rule(struct claim *claim, const char *value)
{
    int index = words_find(&claim_rule_words, value);
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

/* The keys of a section, but its cases: text as it is, or what `take` makes of it. */
#define TEXT_KEY(member)                                                                           \
    {                                                                                              \
#member, NULL, offsetof(struct claim, member), sizeof((struct claim *)0)->member           \
    }
static const struct {
    const char *name;
    int (*take)(struct claim *claim, const char *value);
    size_t offset, size;
} keys[] = {
    TEXT_KEY(document),
    TEXT_KEY(says),
    TEXT_KEY(conditions),
    {"claimed", read_range, 0, 0},
    {"quantity", take_quantity, 0, 0},
    {"rule", take_rule, 0, 0},
    {"awaits", take_awaits, 0, 0},
    TEXT_KEY(note),
};
enum { KEYS = sizeof keys / sizeof *keys };

static int take_key(struct claim *claim, const struct suite_key *key)
{
    const char *names[KEYS + CLAIM_SIDES];
    for (int i = 0; i < KEYS; i++) {
        names[i] = keys[i].name;
        if (strcmp(keys[i].name, key->name)) continue;
        int failed = keys[i].take
                         ? keys[i].take(claim, key->value)
                         : take_text((char *)claim + keys[i].offset, keys[i].size, key->value);
        return failed ? suite_error_here(claim->file, key->line) : 0;
    }
    memcpy(names + KEYS, claim_side_words.list, CLAIM_SIDES * sizeof *names);
    if (words_find(&claim_side_words, key->name) >= 0) return 0;
    char hint[TEXT_HINT];
    return suite_error(claim->file, key->line, "a claim has no key '%s'%s", key->name,
                       text_hint(hint, key->name, names, KEYS + CLAIM_SIDES, NULL));
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
        const struct suite_key *key = suite_key_find(section, claim_side_words.list[i]);
        if (key && claim_case_read(claim, i, key)) return -1;
    }
    return check_claim(claim);
}

/* ------------------------------------------------------------- a file -- */

static int read_all(struct claims *claims, const struct suite_file *file)
{
    claims->item = calloc((size_t)file->claim_count + 1, sizeof *claims->item);
    if (!claims->item) return assay_error("out of memory for the claims");
    for (int i = 0; i < file->claim_count; i++) {
        if (claim_read(&claims->item[i], &file->claims[i])) return -1;
        claims->count++;
    }
    return 0;
}

int claims_read(struct claims *claims, const char *name_or_path)
{
    char path[SUITE_MAX_PATH];
    struct suite_file file;
    *claims = (struct claims){0};
    if (registry_check() || suite_find(name_or_path, NULL, path) || suite_file_read(&file, path))
        return -1;
    int failed = file.claim_count ? read_all(claims, &file)
                                  : assay_error("%s: there is no [claim] in it", path);
    suite_file_release(&file);
    if (failed) claims_release(claims);
    return failed;
}

void claims_release(struct claims *claims)
{
    free(claims->item);
    *claims = (struct claims){0};
}

/* Of a case that says no place any will do. */
static bool is_selected(const struct claim_case *side, const char *filter)
{
    const struct suite_key *device = suite_key_find(&side->group, "device");
    int from = device ? place_parse(device->value) : ASSAY_HOST;
    int to = device ? from : ASSAY_CUDA;
    struct case_id id = {.temperature = (int32_t)side->temperature};
    if (!side->line) return false;
    text_copy(id.operation, sizeof id.operation, side->operation);
    text_copy(id.variant, sizeof id.variant, side->variant);
    if (side->shape.operation) shape_text(&side->shape, id.shape, sizeof id.shape);
    for (id.place = from; id.place <= to; id.place++)
        if (case_matches(filter, &id)) return true;
    return false;
}

int claims_select(struct claims *claims, const char *filter)
{
    int kept = 0;
    for (int i = 0; i < claims->count && filter; i++) {
        const struct claim *claim = &claims->item[i];
        if (is_selected(&claim->side[CLAIM_MORE], filter) ||
            is_selected(&claim->side[CLAIM_LESS], filter))
            claims->item[kept++] = *claim;
    }
    if (filter) claims->count = kept;
    return claims->count;
}
