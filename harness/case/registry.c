#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/registry_lists.h"

/* The linker defines these at both ends of each section. They are weak so that a program
 * without any operation still links, and hidden because shared objects have their own. */
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const struct assay_operation *const __start_assay_operations[] SECTION_END;
extern const struct assay_operation *const __stop_assay_operations[] SECTION_END;
extern const struct assay_variant *const __start_assay_variants[] SECTION_END;
extern const struct assay_variant *const __stop_assay_variants[] SECTION_END;
extern const struct assay_library *const __start_assay_libraries[] SECTION_END;
extern const struct assay_library *const __stop_assay_libraries[] SECTION_END;

/* What is there, each list in the order in which it is shown. The sections are read-only and in
 * link order, so each is copied at first use. */
static struct registry_lists known;
static bool is_ready, is_checked;

/* In a list of variants. What is no kind comes last; registry_check reports it. */
static int kind_rank(enum assay_kind kind)
{
    static const int rank[] = {
        [ASSAY_REFERENCE] = 0, [ASSAY_BASELINE] = 1, [ASSAY_BOUND] = 2, [ASSAY_KERNEL] = 3};
    enum { KINDS = sizeof rank / sizeof *rank };
    return (unsigned)kind < KINDS ? rank[kind] : KINDS;
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

/* `more` behind a copy of `list`. Out of memory for so few bytes is not recoverable. */
static void *joined(const void *list, int count, const void *more, int more_count)
{
    char *copy = malloc(((size_t)(count + more_count) + 1) * sizeof(void *));
    if (!copy) abort();
    if (count) memcpy(copy, list, (size_t)count * sizeof(void *));
    if (more_count)
        memcpy(copy + (size_t)count * sizeof(void *), more, (size_t)more_count * sizeof(void *));
    return copy;
}

struct registry_lists registry_lists_join(const struct registry_lists *a,
                                          const struct registry_lists *b)
{
    struct registry_lists all = {
        .operation = joined(a->operation, a->operations, b->operation, b->operations),
        .variant = joined(a->variant, a->variants, b->variant, b->variants),
        .library = joined(a->library, a->libraries, b->library, b->libraries),
        .operations = a->operations + b->operations,
        .variants = a->variants + b->variants,
        .libraries = a->libraries + b->libraries,
    };
    qsort(all.operation, (size_t)all.operations, sizeof *all.operation, compare_operations);
    qsort(all.variant, (size_t)all.variants, sizeof *all.variant, compare_variants);
    return all;
}

void registry_lists_release(struct registry_lists *lists)
{
    free(lists->operation);
    free(lists->variant);
    free(lists->library);
    *lists = (struct registry_lists){0};
}

const struct registry_lists *registry_known(void)
{
    if (is_ready) return &known;
    struct registry_lists none = {0};
    struct registry_lists own = {
        .operation = (void *)__start_assay_operations,
        .variant = (void *)__start_assay_variants,
        .library = (void *)__start_assay_libraries,
        .operations = (int)(__stop_assay_operations - __start_assay_operations),
        .variants = (int)(__stop_assay_variants - __start_assay_variants),
        .libraries = (int)(__stop_assay_libraries - __start_assay_libraries),
    };
    known = registry_lists_join(&own, &none);
    is_ready = true;
    return &known;
}

void registry_replace(struct registry_lists *lists)
{
    registry_lists_release(&known);
    known = *lists;
    is_ready = true;
    is_checked = false;
}

int registry_operations(const struct assay_operation *const **list)
{
    *list = registry_known()->operation;
    return known.operations;
}

const struct assay_operation *registry_operation(const char *name)
{
    const struct registry_lists *all = registry_known();
    for (int i = 0; i < all->operations; i++)
        if (!compare_names(all->operation[i]->name, name)) return all->operation[i];
    return NULL;
}

int registry_no_operation(const char *name)
{
    const struct registry_lists *all = registry_known();
    const char *names[all->operations + 1];
    for (int i = 0; i < all->operations; i++)
        names[i] = all->operation[i]->name;
    char hint[TEXT_HINT];
    return assay_error("no operation is called '%s'%s", name,
                       text_hint(hint, name, names, all->operations, "there are "));
}

int registry_variants(const char *operation, const struct assay_variant **out, int max)
{
    const struct registry_lists *all = registry_known();
    int count = 0;
    for (int i = 0; i < all->variants && count < max; i++)
        if (!compare_names(all->variant[i]->operation, operation)) out[count++] = all->variant[i];
    return count;
}

int registry_all_variants(const struct assay_variant *const **list)
{
    *list = registry_known()->variant;
    return known.variants;
}

int registry_check(void)
{
    const struct registry_lists *all = registry_known();
    if (is_checked) return 0;
    if (registry_check_lists(all->operation, all->operations, all->variant, all->variants) != 0)
        return assay_error("registry: %s", assay_last_error());
    is_checked = true;
    return 0;
}

/* ------------------------------------------------------------- libraries -- */

void registry_libraries(enum assay_place place, char *out, size_t size)
{
    const struct registry_lists *all = registry_known();
    out[0] = '\0';
    for (int i = 0; i < all->libraries; i++) {
        char text[128];
        if (all->library[i]->place == place && all->library[i]->version(text, sizeof text))
            text_add(out, size, ", ", "%s", text);
    }
}

void registry_load_libraries(enum assay_place place, char *why, size_t size)
{
    const struct registry_lists *all = registry_known();
    why[0] = '\0';
    for (int i = 0; i < all->libraries; i++)
        if (all->library[i]->place == place && all->library[i]->load() != 0 && !why[0])
            snprintf(why, size, "%s", assay_last_error());
}
