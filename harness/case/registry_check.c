/* registry_check.c - the rules for operations and variants (registry_check_lists). */
#include <stdlib.h>
#include <string.h>

#include "case/registry.h"
#include "case/shape.h"

const char *const registry_group_keys[] = {"operation", "variants",  "temperature",  "device",
                                           "baseline",  "budget",    "precision",    "energy",
                                           "timeout",   "threshold", "expect_wrong", NULL};

static int check_name(const char *what, const char *name)
{
    if (!name || !*name) return assay_error("%s has no name", what);
    if (strlen(name) >= ASSAY_MAX_NAME)
        return assay_error("%s '%s': the name has more than %d characters", what, name,
                           ASSAY_MAX_NAME - 1);
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return assay_error("%s '%s': a name is made of a-z, 0-9 and _", what, name);
    return 0;
}

bool registry_is_group_key(const char *name)
{
    for (const char *const *key = registry_group_keys; *key; key++)
        if (!strcmp(*key, name)) return true;
    return false;
}

/* A choice is a word in a suite file, so it may not contain what ends a word there. */
static int check_choices(const struct assay_operation *operation, const struct assay_dim *dim)
{
    if (!dim->choices[0])
        return assay_error("dim %s of %s has no choices", dim->name, operation->name);
    for (const char *const *choice = dim->choices; *choice; choice++)
        if (!**choice || (*choice)[strcspn(*choice, " \t,;=*")] ||
            strlen(*choice) >= ASSAY_MAX_NAME)
            return assay_error("dim %s of %s: '%s' cannot be a choice", dim->name, operation->name,
                               *choice);
    return 0;
}

static int check_dim(const struct assay_operation *operation, int index)
{
    const struct assay_dim *dim = &operation->dims[index];
    if (check_name("a dim", dim->name)) return -1;
    if (registry_is_group_key(dim->name))
        return assay_error("dim %s of %s: suites use this word as a key", dim->name,
                           operation->name);
    if (shape_dim(operation, dim->name) != index)
        return assay_error("dim %s of %s is there twice", dim->name, operation->name);
    if (!dim->summary)
        return assay_error("dim %s of %s has no summary", dim->name, operation->name);
    if (dim->choices && check_choices(operation, dim)) return -1;
    int64_t min, max;
    shape_range(dim, &min, &max);
    if (min < 0 || min > max)
        return assay_error("dim %s of %s has an impossible range", dim->name, operation->name);
    if (dim->fallback < min || dim->fallback > max)
        return assay_error("dim %s of %s: its fallback is not a possible value", dim->name,
                           operation->name);
    return 0;
}

static int check_operation(const struct assay_operation *operation)
{
    if (check_name("an operation", operation->name)) return -1;
    if (!operation->summary || !operation->buffers || !operation->work)
        return assay_error("operation %s lacks its summary, buffers or work", operation->name);
    for (int i = 0; i < shape_dims(operation); i++)
        if (check_dim(operation, i)) return -1;
    return 0;
}

static int check_variant(const struct assay_variant *variant)
{
    if (check_name("a variant", variant->name)) return -1;
    if (!variant->summary || !variant->launch)
        return assay_error("variant %s of %s lacks its summary or launch", variant->name,
                           variant->operation ? variant->operation : "no operation");
    if ((unsigned)variant->kind > ASSAY_REFERENCE || (unsigned)variant->place > ASSAY_CUDA ||
        (unsigned)variant->clock > ASSAY_CLOCK_WALL)
        return assay_error("variant %s of %s: its kind, place or clock is none of assay.h",
                           variant->name, variant->operation);
    if (variant->kind == ASSAY_BOUND && !variant->apart)
        return assay_error("%s of %s is a bound, which computes something else, and is "
                           "not marked apart",
                           variant->name, variant->operation);
    return 0;
}

/* By operation, name and place, which together are a variant's own. */
static int compare_identities(const void *a, const void *b)
{
    const struct assay_variant *const *x = a, *const *y = b;
    int order = strcmp((*x)->operation, (*y)->operation);
    if (!order) order = strcmp((*x)->name, (*y)->name);
    return order ? order : (int)(*x)->place - (int)(*y)->place;
}

/* In the order of their identities. */
static int check_siblings(const struct assay_variant *const *sorted, int count)
{
    int siblings = 1;
    for (int i = 1; i < count; i++) {
        const char *operation = sorted[i]->operation;
        if (!compare_identities(&sorted[i], &sorted[i - 1]))
            return assay_error("two variants of %s are called %s", operation, sorted[i]->name);
        siblings = strcmp(operation, sorted[i - 1]->operation) ? 1 : siblings + 1;
        if (siblings > REGISTRY_MAX_VARIANTS)
            return assay_error("%s has more than %d variants", operation, REGISTRY_MAX_VARIANTS);
    }
    return 0;
}

static int check_operations(const struct assay_operation *const *operations, int count)
{
    for (int i = 0; i < count; i++) {
        if (check_operation(operations[i])) return -1;
        for (int j = 0; j < i; j++)
            if (!strcmp(operations[i]->name, operations[j]->name))
                return assay_error("two operations are called %s", operations[i]->name);
    }
    return 0;
}

/* *last is the operation of the variant before, which in an ordered list is most often the same. */
static int check_operation_exists(const struct assay_variant *variant,
                                  const struct assay_operation *const *operations, int count,
                                  const struct assay_operation **last)
{
    if (variant->operation && *last && !strcmp((*last)->name, variant->operation)) return 0;
    for (int i = 0; i < count; i++) {
        *last = operations[i];
        if (variant->operation && !strcmp(operations[i]->name, variant->operation)) return 0;
    }
    return assay_error("variant %s belongs to operation '%s', which does not exist", variant->name,
                       variant->operation ? variant->operation : "");
}

int registry_check_lists(const struct assay_operation *const *operations, int operation_count,
                         const struct assay_variant *const *variants, int variant_count)
{
    const struct assay_operation *last = NULL;
    if (check_operations(operations, operation_count)) return -1;
    for (int i = 0; i < variant_count; i++)
        if (check_variant(variants[i]) ||
            check_operation_exists(variants[i], operations, operation_count, &last))
            return -1;
    const struct assay_variant **sorted = malloc(((size_t)variant_count + 1) * sizeof *sorted);
    if (!sorted) return assay_error("out of memory for the variants");
    if (variant_count) memcpy(sorted, variants, (size_t)variant_count * sizeof *sorted);
    qsort(sorted, (size_t)variant_count, sizeof *sorted, compare_identities);
    int failed = check_siblings(sorted, variant_count);
    free(sorted);
    return failed;
}
