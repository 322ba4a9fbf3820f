/* plan_expand.c - a suite's groups multiplied out for a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "base/units.h"
#include "case/registry.h"
#include "case/shape.h"
#include "suite/plan_parts.h"
#include "suite/size_class.h"
#include "suite/suite_check.h"
#include "suite/suite_file.h"
#include "suite/suite_value.h"

struct axis {
    int dim, line;
    struct suite_value *values;
    int count;
};

struct expansion {
    const struct suite_group *source;
    const struct suite *suite;
    const struct device_info *device;
    const struct assay_operation *operation;
    int axis_count;
    struct axis axis[ASSAY_MAX_DIMS];
    int temperature_count;
    enum assay_temperature temperature[2];
    struct group pattern; /* all but the shape and temperature */
};

struct group *plan_find(const struct plan *plan, const struct assay_shape *shape,
                        enum assay_temperature temperature)
{
    for (int i = 0; i < plan->count; i++)
        if (plan->groups[i].temperature == temperature &&
            shape_equal(&plan->groups[i].shape, shape))
            return &plan->groups[i];
    return NULL;
}

/* ---------------------------------------------------------- the group's own -- */

static const char *value_of(const struct suite_group *source, const char *name,
                            const char *fallback)
{
    const struct suite_key *key = suite_key_find(source, name);
    return key ? key->value : fallback;
}

static int read_settings(struct expansion *expansion)
{
    for (int i = 0; i < SUITE_SETTINGS; i++) {
        const struct suite_setting *setting = &suite_settings[i];
        double *value = (double *)((char *)&expansion->pattern + setting->in_group);
        const struct suite_key *key = suite_key_find(expansion->source, setting->name);
        *value = *(const double *)((const char *)expansion->suite + setting->in_suite);
        if (key && suite_setting_read(setting, key->value, value))
            return suite_error_here(expansion->source->file, key->line);
    }
    return 0;
}

static int read_temperatures(struct expansion *expansion)
{
    struct suite_words words;
    if (suite_words_split(&words, value_of(expansion->source, "temperature", "cold"))) return -1;
    for (int i = 0; i < words.count; i++) {
        int temperature = temperature_parse(words.word[i]);
        bool is_there = false;
        for (int j = 0; j < expansion->temperature_count; j++)
            is_there = is_there || (int)expansion->temperature[j] == temperature;
        if (!is_there && temperature >= 0)
            expansion->temperature[expansion->temperature_count++] =
                (enum assay_temperature)temperature;
    }
    return 0;
}

static int read_variants(struct expansion *expansion)
{
    const struct suite_group *source = expansion->source;
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    struct group *pattern = &expansion->pattern;
    const char *chosen = value_of(source, "variants", "*");
    const char *baseline = value_of(source, "baseline", "");
    const struct suite_key *wrong = suite_key_find(source, "expect_wrong");
    int count = registry_variants(expansion->operation->name, variants, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++) {
        if ((int)variants[i]->place != expansion->device->place) continue;
        bool is_baseline = !strcmp(variants[i]->name, baseline);
        /* A baseline that is not measured is none. */
        if (!is_baseline && !suite_chooses(chosen, variants[i]->name)) continue;
        if (pattern->variant_count == PLAN_MAX_VARIANTS)
            return suite_error(source->file, source->line, "more than %d variants in a group",
                               PLAN_MAX_VARIANTS);
        pattern->expect_wrong[pattern->variant_count] =
            wrong && suite_chooses(wrong->value, variants[i]->name);
        pattern->variant[pattern->variant_count++] = variants[i];
        if (is_baseline) text_copy(pattern->baseline, sizeof pattern->baseline, baseline);
    }
    return 0;
}

static int read_axes(struct expansion *expansion)
{
    const struct suite_group *source = expansion->source;
    for (int i = 0; i < source->key_count; i++) {
        const struct suite_key *key = &source->keys[i];
        int dim = shape_dim(expansion->operation, key->name);
        if (dim < 0) continue;
        struct axis *axis = &expansion->axis[expansion->axis_count];
        axis->count = suite_values(&expansion->operation->dims[dim], key->value, &axis->values);
        if (axis->count < 0) return suite_error_here(source->file, key->line);
        axis->dim = dim;
        axis->line = key->line;
        expansion->axis_count++;
    }
    return 0;
}

static int read_source(struct expansion *expansion)
{
    const struct suite_group *source = expansion->source;
    if (text_copy(expansion->pattern.label, sizeof expansion->pattern.label, source->label))
        return suite_error(source->file, source->line, "the label is too long");
    if (read_settings(expansion) || read_temperatures(expansion) || read_variants(expansion))
        return -1;
    return read_axes(expansion);
}

/* --------------------------------------------------------------- shapes -- */

/* At one position of every axis. The size class comes last: it depends on the other dims. */
static int make_shape(const struct expansion *expansion, const int *position,
                      struct assay_shape *shape)
{
    const struct axis *classed = NULL;
    const struct suite_value *class_value = NULL;
    *shape = shape_default(expansion->operation);
    for (int i = 0; i < expansion->axis_count; i++) {
        const struct axis *axis = &expansion->axis[i];
        const struct suite_value *value = &axis->values[position[i]];
        if (value->class_name) {
            classed = axis;
            class_value = value;
        } else {
            shape->value[axis->dim] = value->value;
        }
    }
    if (classed &&
        size_class_solve(shape, classed->dim, class_value->class_name, class_value->times,
                         expansion->device, &shape->value[classed->dim]))
        return suite_error_here(expansion->source->file, classed->line);
    char text[2 * RESULT_MAX_SHAPE];
    shape_text(shape, text, sizeof text);
    if (strlen(text) >= RESULT_MAX_SHAPE)
        return suite_error(expansion->source->file, expansion->source->line,
                           "the shape's text is longer than %d characters", RESULT_MAX_SHAPE - 1);
    return 0;
}

/* The next position, the last axis fastest; false after the last one. */
static bool advance(const struct expansion *expansion, int *position)
{
    for (int i = expansion->axis_count - 1; i >= 0; i--) {
        if (++position[i] < expansion->axis[i].count) return true;
        position[i] = 0;
    }
    return false;
}

/* -------------------------------------------------------------- skipped -- */

/* Why no variant can: "" when some may. */
static void group_reason(const struct group *group, const struct device_info *device,
                         char reason[ASSAY_MAX_REASON])
{
    const struct assay_operation *operation = group->shape.operation;
    const char *why = operation->supports ? operation->supports(&group->shape) : NULL;
    reason[0] = '\0';
    if (why) {
        text_copy(reason, ASSAY_MAX_REASON, why);
        return;
    }
    double needed = shape_buffer_bytes(&group->shape) + 2.0 * GUARD_BYTES * ASSAY_MAX_BUFFERS;
    if (device->memory_bytes > 0 && !(needed <= (double)device->memory_bytes)) {
        char need[UNITS_MAX], have[UNITS_MAX];
        units_bytes(need, needed);
        units_bytes(have, (double)device->memory_bytes);
        snprintf(reason, ASSAY_MAX_REASON, "needs %s, the device has %s", need, have);
    }
}

/* What the variant needs of the card and of the code that was built, and is not there. */
static void card_reason(const struct assay_variant *variant, const struct assay_shape *shape,
                        const struct assay_card *card, char reason[ASSAY_MAX_REASON])
{
    int64_t shared = variant->shared_bytes ? variant->shared_bytes(shape) : 0;
    if (variant->min_sm > card->sm || (variant->arch_specific && !card->arch_specific))
        snprintf(reason, ASSAY_MAX_REASON, "needs code for sm_%d%s, this build has sm_%d",
                 variant->min_sm, variant->arch_specific ? "a" : "", card->sm);
    else if (shared > card->shared_bytes)
        snprintf(reason, ASSAY_MAX_REASON,
                 "needs %lld KiB of shared memory per block, this card has %lld",
                 (long long)((shared + 1023) >> 10), (long long)(card->shared_bytes >> 10));
}

static void variant_reason(const struct assay_variant *variant, const struct assay_shape *shape,
                           const struct device_info *device, char reason[ASSAY_MAX_REASON])
{
    const char *why = variant->supports ? variant->supports(shape) : NULL;
    reason[0] = '\0';
    if (variant->min_sm > device->compute_capability)
        snprintf(reason, ASSAY_MAX_REASON, "needs compute capability %d.%d, the device has %d.%d",
                 variant->min_sm / 10, variant->min_sm % 10, device->compute_capability / 10,
                 device->compute_capability % 10);
    else if (variant->max_sm > 0 && variant->max_sm < device->compute_capability)
        snprintf(reason, ASSAY_MAX_REASON,
                 "for compute capability %d.%d at most, the device has %d.%d", variant->max_sm / 10,
                 variant->max_sm % 10, device->compute_capability / 10,
                 device->compute_capability % 10);
    else if (why)
        text_copy(reason, ASSAY_MAX_REASON, why);
    else if (device->place == ASSAY_CUDA)
        card_reason(variant, shape, &device->card, reason);
}

void plan_skip(struct group *group, const struct device_info *device)
{
    char all[ASSAY_MAX_REASON];
    group_reason(group, device, all);
    for (int i = 0; i < group->variant_count; i++)
        if (*all)
            text_copy(group->skip[i], sizeof group->skip[i], all);
        else
            variant_reason(group->variant[i], &group->shape, device, group->skip[i]);
}

/* --------------------------------------------------------------- groups -- */

int plan_merge(struct group *group, const struct group *more)
{
    for (int i = 0; i < more->variant_count; i++) {
        int at = 0;
        while (at < group->variant_count && group->variant[at] != more->variant[i])
            at++;
        if (at < group->variant_count) continue;
        if (at == PLAN_MAX_VARIANTS)
            return assay_error("more than %d variants in a group", PLAN_MAX_VARIANTS);
        group->variant[at] = more->variant[i];
        group->expect_wrong[at] = more->expect_wrong[i];
        memcpy(group->skip[at], more->skip[i], sizeof group->skip[at]);
        group->variant_count++;
    }
    return 0;
}

static int add_variants(const struct expansion *expansion, struct group *group)
{
    const struct suite_group *source = expansion->source;
    const struct group *pattern = &expansion->pattern;
    if (plan_merge(group, pattern)) return suite_error_here(source->file, source->line);
    if (!*group->baseline) memcpy(group->baseline, pattern->baseline, sizeof group->baseline);
    return 0;
}

static int add_group(struct plan *plan, const struct expansion *expansion,
                     const struct assay_shape *shape, enum assay_temperature temperature)
{
    const struct suite_group *source = expansion->source;
    struct group *group = plan_find(plan, shape, temperature);
    if (group) {
        if (add_variants(expansion, group)) return -1;
        plan_skip(group, expansion->device);
        return 0;
    }
    if (plan->count == PLAN_MAX_GROUPS)
        return suite_error(source->file, source->line, "a plan has at most %d groups",
                           PLAN_MAX_GROUPS);
    group = grow_add(&plan->groups, &plan->count, sizeof *group, "the groups of the plan");
    if (!group) return -1;
    *group = expansion->pattern;
    group->shape = *shape;
    group->temperature = temperature;
    plan_skip(group, expansion->device);
    return 0;
}

static int add_shapes(struct plan *plan, const struct expansion *expansion)
{
    int position[ASSAY_MAX_DIMS] = {0};
    do {
        struct assay_shape shape;
        if (make_shape(expansion, position, &shape)) return -1;
        for (int i = 0; i < expansion->temperature_count; i++)
            if (add_group(plan, expansion, &shape, expansion->temperature[i])) return -1;
    } while (advance(expansion, position));
    return 0;
}

static bool is_for_device(const struct suite_group *source, const struct device_info *device)
{
    const struct suite_key *key = suite_key_find(source, "device");
    return !key || place_parse(key->value) == device->place;
}

static int expand_group(struct plan *plan, const struct suite *suite,
                        const struct suite_group *source, const struct device_info *device)
{
    if (!is_for_device(source, device)) return 0;
    struct expansion *expansion = calloc(1, sizeof *expansion);
    if (!expansion) return assay_error("out of memory");
    expansion->source = source;
    expansion->suite = suite;
    expansion->device = device;
    expansion->operation = registry_operation(value_of(source, "operation", ""));
    int failed = expansion->operation ? read_source(expansion)
                                      : suite_error(source->file, source->line, "no operation");
    if (!failed && expansion->pattern.variant_count) failed = add_shapes(plan, expansion);
    for (int i = 0; i < expansion->axis_count; i++)
        free(expansion->axis[i].values);
    free(expansion);
    return failed;
}

int plan_expand(struct plan *plan, const struct suite *suite, const struct device_info *device)
{
    for (int i = 0; i < suite->group_count; i++)
        if (expand_group(plan, suite, &suite->groups[i], device)) return -1;
    return 0;
}
