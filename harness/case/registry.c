#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/shape.h"

/* The linker defines these at both ends of each section. They are weak so that a program
 * without any operation still links. */
extern const struct assay_operation *const __start_assay_operations[] __attribute__((weak));
extern const struct assay_operation *const __stop_assay_operations[] __attribute__((weak));
extern const struct assay_variant *const __start_assay_variants[] __attribute__((weak));
extern const struct assay_variant *const __stop_assay_variants[] __attribute__((weak));
extern const struct assay_library *const __start_assay_libraries[] __attribute__((weak));
extern const struct assay_library *const __stop_assay_libraries[] __attribute__((weak));

const char *const registry_group_keys[] = {"operation", "variants",  "temperature",  "device",
                                           "baseline",  "budget",    "precision",    "energy",
                                           "timeout",   "threshold", "expect_wrong", NULL};

/* The sections are read-only and in link order, so each is copied and sorted once, at
 * first use. */
static struct {
    const struct assay_operation **operation;
    const struct assay_variant **variant;
    int operations, variants;
    bool ready;
} sorted;

/* Order of the kinds in a list of variants. */
static int kind_rank(enum assay_kind kind)
{
    static const int rank[] = {
        [ASSAY_REFERENCE] = 0, [ASSAY_BASELINE] = 1, [ASSAY_BOUND] = 2, [ASSAY_KERNEL] = 3};
    return rank[kind];
}

/* A missing name sorts first; registry_check reports it. */
static int compare_names(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_operations(const void *a, const void *b)
{
    const struct assay_operation *const *x = a, *const *y = b;
    return compare_names((*x)->name, (*y)->name);
}

static int compare_variants(const void *a, const void *b)
{
    const struct assay_variant *const *x = a, *const *y = b;
    int order = compare_names((*x)->operation, (*y)->operation);
    if (!order) order = kind_rank((*x)->kind) - kind_rank((*y)->kind);
    if (!order) order = compare_names((*x)->name, (*y)->name);
    if (!order) order = (int)(*x)->place - (int)(*y)->place;
    return order;
}

/* A sorted copy of a section. Out of memory for so few bytes at start is not recoverable. */
static void *sorted_copy(const void *begin, int count, int (*compare)(const void *, const void *))
{
    if (count == 0) return NULL;
    void *copy = malloc((size_t)count * sizeof(void *));
    if (!copy) abort();
    memcpy(copy, begin, (size_t)count * sizeof(void *));
    qsort(copy, (size_t)count, sizeof(void *), compare);
    return copy;
}

static void make_ready(void)
{
    if (sorted.ready) return;
    sorted.operations = (int)(__stop_assay_operations - __start_assay_operations);
    sorted.variants = (int)(__stop_assay_variants - __start_assay_variants);
    sorted.operation = sorted_copy(__start_assay_operations, sorted.operations, compare_operations);
    sorted.variant = sorted_copy(__start_assay_variants, sorted.variants, compare_variants);
    sorted.ready = true;
}

int registry_operations(const struct assay_operation *const **list)
{
    make_ready();
    *list = sorted.operation;
    return sorted.operations;
}

const struct assay_operation *registry_operation(const char *name)
{
    make_ready();
    for (int i = 0; i < sorted.operations; i++)
        if (!compare_names(sorted.operation[i]->name, name)) return sorted.operation[i];
    return NULL;
}

int registry_variants(const char *operation, const struct assay_variant **out, int max)
{
    make_ready();
    int count = 0;
    for (int i = 0; i < sorted.variants && count < max; i++)
        if (!compare_names(sorted.variant[i]->operation, operation))
            out[count++] = sorted.variant[i];
    return count;
}

int registry_all_variants(const struct assay_variant *const **list)
{
    make_ready();
    *list = sorted.variant;
    return sorted.variants;
}

/* ------------------------------------------------------------- checking -- */

static int check_name(const char *what, const char *name)
{
    if (!name || !*name) return assay_error("registry: %s has no name", what);
    if (strlen(name) >= ASSAY_MAX_NAME)
        return assay_error("registry: %s '%s': the name has more than %d characters", what, name,
                           ASSAY_MAX_NAME - 1);
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return assay_error("registry: %s '%s': a name is made of a-z, 0-9 and _", what, name);
    return 0;
}

static bool is_group_key(const char *name)
{
    for (const char *const *key = registry_group_keys; *key; key++)
        if (!strcmp(*key, name)) return true;
    return false;
}

/* A choice is a word in a suite file, so it may not contain what ends a word there. */
static int check_choices(const struct assay_operation *operation, const struct assay_dim *dim)
{
    if (!dim->choices[0])
        return assay_error("registry: dim %s of %s has no choices", dim->name, operation->name);
    for (const char *const *choice = dim->choices; *choice; choice++)
        if (!**choice || (*choice)[strcspn(*choice, " \t,;=*")] ||
            strlen(*choice) >= ASSAY_MAX_NAME)
            return assay_error("registry: dim %s of %s: '%s' cannot be a choice", dim->name,
                               operation->name, *choice);
    return 0;
}

static int check_dim(const struct assay_operation *operation, int index)
{
    const struct assay_dim *dim = &operation->dims[index];
    if (check_name("a dim", dim->name)) return -1;
    if (is_group_key(dim->name))
        return assay_error("registry: dim %s of %s: suites use this word as a key", dim->name,
                           operation->name);
    if (shape_dim(operation, dim->name) != index)
        return assay_error("registry: dim %s of %s is there twice", dim->name, operation->name);
    if (!dim->summary)
        return assay_error("registry: dim %s of %s has no summary", dim->name, operation->name);
    if (dim->choices && check_choices(operation, dim)) return -1;
    int64_t min, max;
    shape_range(dim, &min, &max);
    if (min < 0 || min > max)
        return assay_error("registry: dim %s of %s has an impossible range", dim->name,
                           operation->name);
    if (dim->fallback < min || dim->fallback > max)
        return assay_error("registry: dim %s of %s: its fallback is not a possible value",
                           dim->name, operation->name);
    return 0;
}

static int check_operation(const struct assay_operation *operation)
{
    if (check_name("an operation", operation->name)) return -1;
    if (!operation->summary || !operation->buffers || !operation->work)
        return assay_error("registry: operation %s lacks its summary, buffers or work",
                           operation->name);
    for (int i = 0; i < shape_dims(operation); i++)
        if (check_dim(operation, i)) return -1;
    return 0;
}

static int check_variant(const struct assay_variant *variant)
{
    if (check_name("a variant", variant->name)) return -1;
    if (!variant->summary || !variant->launch)
        return assay_error("registry: variant %s of %s lacks its summary or launch", variant->name,
                           variant->operation ? variant->operation : "no operation");
    if (variant->kind == ASSAY_BOUND && !variant->apart)
        return assay_error("registry: %s of %s is a bound, which computes something else, and is "
                           "not marked apart",
                           variant->name, variant->operation);
    return 0;
}

static bool same_variant(const struct assay_variant *a, const struct assay_variant *b)
{
    return a->place == b->place && !strcmp(a->name, b->name) && !strcmp(a->operation, b->operation);
}

static int check_operations(const struct assay_operation *const *operations, int count)
{
    for (int i = 0; i < count; i++) {
        if (check_operation(operations[i])) return -1;
        for (int j = 0; j < i; j++)
            if (!strcmp(operations[i]->name, operations[j]->name))
                return assay_error("registry: two operations are called %s", operations[i]->name);
    }
    return 0;
}

static int check_operation_exists(const struct assay_variant *variant,
                                  const struct assay_operation *const *operations, int count)
{
    for (int i = 0; i < count; i++)
        if (!compare_names(operations[i]->name, variant->operation)) return 0;
    return assay_error("registry: variant %s belongs to operation '%s', which does not exist",
                       variant->name, variant->operation ? variant->operation : "");
}

int registry_check_lists(const struct assay_operation *const *operations, int operation_count,
                         const struct assay_variant *const *variants, int variant_count)
{
    if (check_operations(operations, operation_count)) return -1;
    for (int i = 0; i < variant_count; i++) {
        if (check_variant(variants[i])) return -1;
        if (check_operation_exists(variants[i], operations, operation_count)) return -1;
        int siblings = 1;
        for (int j = 0; j < i; j++) {
            if (same_variant(variants[i], variants[j]))
                return assay_error("registry: two variants of %s are called %s",
                                   variants[i]->operation, variants[i]->name);
            siblings += !strcmp(variants[i]->operation, variants[j]->operation);
        }
        if (siblings > REGISTRY_MAX_VARIANTS)
            return assay_error("registry: %s has more than %d variants", variants[i]->operation,
                               REGISTRY_MAX_VARIANTS);
    }
    return 0;
}

int registry_check(void)
{
    make_ready();
    return registry_check_lists(sorted.operation, sorted.operations, sorted.variant,
                                sorted.variants);
}

void registry_libraries(enum assay_place place, char *out, size_t size)
{
    const struct assay_library *const *begin = __start_assay_libraries;
    const struct assay_library *const *end = __stop_assay_libraries;
    out[0] = '\0';
    for (const struct assay_library *const *entry = begin; begin && entry < end; entry++) {
        char text[128];
        if ((*entry)->place == place && (*entry)->version(text, sizeof text))
            text_add(out, size, ", ", "%s", text);
    }
}

void registry_load_libraries(enum assay_place place, char *why, size_t size)
{
    const struct assay_library *const *begin = __start_assay_libraries;
    const struct assay_library *const *end = __stop_assay_libraries;
    why[0] = '\0';
    for (const struct assay_library *const *entry = begin; begin && entry < end; entry++)
        if ((*entry)->place == place && (*entry)->load() != 0 && !why[0])
            snprintf(why, size, "%s", assay_last_error());
}
