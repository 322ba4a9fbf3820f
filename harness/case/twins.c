#include "case/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/registry_lists.h"
#include "case/shape.h"

static const char *const marks[TWINS] = {"@base", "@null"};

struct twin_variant {
    struct assay_variant variant; /* with the name of the twin */
    const struct assay_variant *original;
    const struct assay_operation *operation; /* of its build */
    enum twin twin;
    char name[ASSAY_MAX_NAME];
};
/* Each by itself, so that its address stays. */
static struct twin_variant **twins;
static int twin_count;

int twin_split(const char *name, char plain[ASSAY_MAX_NAME])
{
    size_t length = strcspn(name, "@");
    snprintf(plain, ASSAY_MAX_NAME, "%.*s", (int)length, name);
    for (int i = 0; i < TWINS; i++)
        if (strcmp(name + length, marks[i]) == 0) return i;
    return -1;
}

/* ---------------------------------------------------------------- adding -- */

static const struct assay_operation *operation_of(const struct registry_lists *lists,
                                                  const char *name)
{
    for (int i = 0; i < lists->operations; i++)
        if (strcmp(lists->operation[i]->name, name) == 0) return lists->operation[i];
    return registry_operation(name);
}

static int add(const struct registry_lists *lists, const struct assay_variant *variant,
               enum twin twin, const char *origin)
{
    const struct assay_operation *operation = operation_of(lists, variant->operation);
    if (strlen(variant->name) + strlen(marks[twin]) >= ASSAY_MAX_NAME)
        return assay_error("%s: the name of %s/%s is too long to have a twin", origin,
                           variant->operation, variant->name);
    struct twin_variant **place = grow_add(&twins, &twin_count, sizeof(void *), "twins");
    struct twin_variant *one = place ? calloc(1, sizeof *one) : NULL;
    if (!one) {
        twin_count -= place != NULL;
        return assay_error("out of memory for the variants of %s", origin);
    }
    *place = one;
    *one = (struct twin_variant){
        .variant = *variant, .original = variant, .operation = operation, .twin = twin};
    snprintf(one->name, sizeof one->name, "%s%s", variant->name, marks[twin]);
    one->variant.name = one->name;
    return 0;
}

/* Its own lists must be in order, with the operations of the registry that they lack. */
static int check(const struct registry_lists *lists, const char *origin)
{
    const struct registry_lists *known = registry_known();
    const struct assay_operation **all =
        calloc((size_t)(lists->operations + known->operations) + 1, sizeof(void *));
    if (!all) return assay_error("out of memory for the operations of %s", origin);
    int count = 0;
    for (; count < lists->operations; count++)
        all[count] = lists->operation[count];
    for (int i = 0; i < known->operations; i++) {
        bool is_there = false;
        for (int j = 0; j < lists->operations; j++)
            is_there |= lists->operation[j]->name &&
                        strcmp(lists->operation[j]->name, known->operation[i]->name) == 0;
        if (!is_there) all[count++] = known->operation[i];
    }
    int status = registry_check_lists(all, count, lists->variant, lists->variants);
    free(all);
    return status == 0 ? 0 : assay_error("%s: %s", origin, assay_last_error());
}

int twins_add(const struct assay_object *object, enum twin twin, const char *origin)
{
    struct registry_lists lists;
    void *grown[3]; /* kept: the twins are copies of what is in it */
    if (registry_lists_of(object, origin, &lists, grown) || check(&lists, origin)) return -1;
    int before = twin_count;
    for (int i = 0; i < lists.variants; i++)
        if (add(&lists, lists.variant[i], twin, origin)) {
            while (twin_count > before)
                free(twins[--twin_count]);
            return -1;
        }
    return 0;
}

/* --------------------------------------------------------------- finding -- */

const struct assay_variant *twins_named(const char *operation, const char *name,
                                        enum assay_place place)
{
    for (int i = 0; i < twin_count; i++) {
        const struct assay_variant *one = &twins[i]->variant;
        if (one->place == place && strcmp(one->name, name) == 0 &&
            strcmp(one->operation, operation) == 0)
            return one;
    }
    return NULL;
}

const struct assay_variant *twins_of(const struct assay_variant *variant, enum twin twin)
{
    char name[2 * ASSAY_MAX_NAME];
    snprintf(name, sizeof name, "%s%s", variant->name, marks[twin]);
    return twins_named(variant->operation, name, variant->place);
}

static const struct twin_variant *entry_of(const struct assay_variant *variant)
{
    for (int i = 0; i < twin_count; i++)
        if (&twins[i]->variant == variant) return twins[i];
    return NULL;
}

const struct assay_variant *twins_original(const struct assay_variant *variant)
{
    const struct twin_variant *entry = entry_of(variant);
    return entry ? entry->original : variant;
}

/* ------------------------------------------------------------- comparing -- */

static bool same_choices(const char *const *a, const char *const *b)
{
    if (!a || !b) return a == b;
    while (*a && *b && strcmp(*a, *b) == 0)
        a++, b++;
    return !*a && !*b;
}

static bool same_dims(const struct assay_operation *a, const struct assay_operation *b)
{
    if (shape_dims(a) != shape_dims(b)) return false;
    for (int i = 0; i < shape_dims(a); i++)
        if (strcmp(a->dims[i].name, b->dims[i].name) != 0 ||
            !same_choices(a->dims[i].choices, b->dims[i].choices))
            return false;
    return true;
}

/* The hard values too: they are a part of what is measured. */
static bool same_fill(const struct assay_fill *a, const struct assay_fill *b)
{
    bool same = a->kind == b->kind && a->a == b->a && a->b == b->b &&
                a->hard_count == b->hard_count && a->hard_every == b->hard_every &&
                a->hard_until == b->hard_until;
    return same && (a->hard_count == 0 ||
                    memcmp(a->hard, b->hard, (size_t)a->hard_count * sizeof *a->hard) == 0);
}

static bool same_buffers(const struct assay_operation *a, const struct assay_operation *b,
                         const struct assay_shape *shape)
{
    struct assay_buffer left[ASSAY_MAX_BUFFERS], right[ASSAY_MAX_BUFFERS];
    struct assay_shape own = *shape;
    own.operation = b;
    int count = a->buffers(shape, left);
    if (count != b->buffers(&own, right)) return false;
    for (int i = 0; i < count; i++)
        if (strcmp(left[i].name, right[i].name) != 0 || left[i].role != right[i].role ||
            left[i].type != right[i].type || left[i].count != right[i].count ||
            left[i].constant != right[i].constant || !same_fill(&left[i].fill, &right[i].fill))
            return false;
    return true;
}

const char *twins_obstacle(const struct assay_variant *twin, const struct assay_shape *shape)
{
    const struct twin_variant *entry = entry_of(twin);
    if (!entry || entry->operation == shape->operation) return NULL;
    if (!same_dims(shape->operation, entry->operation))
        return "the builds have other dims of the operation";
    if (!same_buffers(shape->operation, entry->operation, shape))
        return "the builds have other buffers of the operation";
    return NULL;
}

struct case_work twins_work(const struct assay_variant *twin, const struct assay_shape *shape)
{
    const struct twin_variant *entry = entry_of(twin);
    struct assay_shape own = *shape;
    if (entry) own.operation = entry->operation;
    return case_work_of(&own);
}
