/* registry_add.c - what shared objects and callers of the program bring to the registry. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "case/registry.h"
#include "case/registry_lists.h"

/* What an object brought: its own structs, or copies of those that were smaller in its time. */
struct addition {
    const struct assay_object *object;
    char *origin;
    struct registry_lists lists; /* in its order; borrowed, or in `grown` */
    void *grown[3];
};
static struct addition *additions;
static int addition_count;

/* Where each struct of the first minor version ends: none is smaller. */
#define END_OF(type, member) (int32_t)(offsetof(type, member) + sizeof(((type *)0)->member))
enum {
    FIRST_OBJECT_BYTES = END_OF(struct assay_object, libraries),
    FIRST_OPERATION_BYTES = END_OF(struct assay_operation, data_dims),
    FIRST_VARIANT_BYTES = END_OF(struct assay_variant, spans),
    FIRST_LIBRARY_BYTES = END_OF(struct assay_library, version),
};

_Static_assert(ASSAY_ABI_MINOR > 0 || (FIRST_OBJECT_BYTES == sizeof(struct assay_object) &&
                                       FIRST_OPERATION_BYTES == sizeof(struct assay_operation) &&
                                       FIRST_VARIANT_BYTES == sizeof(struct assay_variant) &&
                                       FIRST_LIBRARY_BYTES == sizeof(struct assay_library)),
               "the first minor version ends where its structs end");

struct assay_object registry_object(const struct assay_operation *const *operations,
                                    int operation_count,
                                    const struct assay_variant *const *variants, int variant_count)
{
    return (struct assay_object){
        .abi_major = ASSAY_ABI_MAJOR,
        .abi_minor = ASSAY_ABI_MINOR,
        .object_bytes = sizeof(struct assay_object),
        .operation_bytes = sizeof(struct assay_operation),
        .variant_bytes = sizeof(struct assay_variant),
        .library_bytes = sizeof(struct assay_library),
        .fixed_bytes = ASSAY_FIXED_BYTES,
        .operation_count = operation_count,
        .operations = operations,
        .variant_count = variant_count,
        .variants = variants,
    };
}

static bool is_size(int32_t bytes, int32_t least, size_t most)
{
    return bytes >= least && bytes <= (int32_t)most;
}

static int check_abi(const struct assay_object *object, const char *origin)
{
    if (object->abi_major != ASSAY_ABI_MAJOR || object->abi_minor > ASSAY_ABI_MINOR)
        return assay_error("%s was compiled for version %d.%d of assay.h, and this program is of "
                           "version %d.%d: compile it with the assay.h of this program",
                           origin, object->abi_major, object->abi_minor, ASSAY_ABI_MAJOR,
                           ASSAY_ABI_MINOR);
    if (!is_size(object->object_bytes, FIRST_OBJECT_BYTES, sizeof *object) ||
        !is_size(object->operation_bytes, FIRST_OPERATION_BYTES, sizeof(struct assay_operation)) ||
        !is_size(object->variant_bytes, FIRST_VARIANT_BYTES, sizeof(struct assay_variant)) ||
        !is_size(object->library_bytes, FIRST_LIBRARY_BYTES, sizeof(struct assay_library)) ||
        object->fixed_bytes != ASSAY_FIXED_BYTES)
        return assay_error("%s says that it is of version %d.%d of assay.h, and its structs have "
                           "other sizes: compile it with the assay.h of this program",
                           origin, object->abi_major, object->abi_minor);
    if (object->operation_count < 0 || object->variant_count < 0 || object->library_count < 0)
        return assay_error("%s: a count of what it registers is negative", origin);
    if (object->operation_count + object->variant_count == 0)
        return assay_error("%s registers no operation and no variant: an ASSAY_REGISTER_ line does",
                           origin);
    return 0;
}

const void *registry_grow(const void *list, int count, size_t had, size_t bytes, void **block)
{
    *block = NULL;
    if (had == bytes || count == 0) return list;
    const void *const *from = list;
    char *structs = calloc((size_t)count, bytes + sizeof(void *));
    if (!structs) abort();
    void **pointer = (void **)(structs + (size_t)count * bytes);
    for (int i = 0; i < count; i++)
        if (from[i]) pointer[i] = memcpy(structs + (size_t)i * bytes, from[i], had);
    *block = structs;
    return pointer;
}

static void take(struct registry_lists *lists, void *grown[3], const struct assay_object *object)
{
    *lists = (struct registry_lists){
        .operation = (void *)registry_grow(object->operations, object->operation_count,
                                           (size_t)object->operation_bytes,
                                           sizeof(struct assay_operation), &grown[0]),
        .variant = (void *)registry_grow(object->variants, object->variant_count,
                                         (size_t)object->variant_bytes,
                                         sizeof(struct assay_variant), &grown[1]),
        .library = (void *)registry_grow(object->libraries, object->library_count,
                                         (size_t)object->library_bytes,
                                         sizeof(struct assay_library), &grown[2]),
        .operations = object->operation_count,
        .variants = object->variant_count,
        .libraries = object->library_count,
    };
}

static bool has_gaps(const struct registry_lists *lists)
{
    for (int i = 0; i < lists->operations; i++)
        if (!lists->operation[i]) return true;
    for (int i = 0; i < lists->variants; i++)
        if (!lists->variant[i]) return true;
    for (int i = 0; i < lists->libraries; i++)
        if (!lists->library[i] || !lists->library[i]->load || !lists->library[i]->version)
            return true;
    return false;
}

int registry_lists_of(const struct assay_object *object, const char *origin,
                      struct registry_lists *lists, void *grown[3])
{
    grown[0] = grown[1] = grown[2] = NULL;
    if (check_abi(object, origin)) return -1;
    take(lists, grown, object);
    if (!has_gaps(lists)) return 0;
    for (int i = 0; i < 3; i++)
        free(grown[i]);
    return assay_error("%s: something that it registers is not there", origin);
}

static const char *origin_of(const void *entry)
{
    for (int i = 0; i < addition_count; i++) {
        const struct registry_lists *lists = &additions[i].lists;
        for (int j = 0; j < lists->operations; j++)
            if (lists->operation[j] == entry) return additions[i].origin;
        for (int j = 0; j < lists->variants; j++)
            if (lists->variant[j] == entry) return additions[i].origin;
    }
    return "this program";
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static int check_taken_variant(const struct assay_variant *variant, const char *origin)
{
    const struct registry_lists *known = registry_known();
    for (int i = 0; i < known->variants; i++) {
        const struct assay_variant *there = known->variant[i];
        if (there->place == variant->place && is_same(there->name, variant->name) &&
            is_same(there->operation, variant->operation))
            return assay_error("%s: the variant %s/%s is already there: %s has it", origin,
                               variant->operation, variant->name, origin_of(there));
    }
    return 0;
}

static int check_taken(const struct registry_lists *lists, const char *origin)
{
    for (int i = 0; i < lists->operations; i++) {
        const char *name = lists->operation[i]->name;
        const struct assay_operation *there = name ? registry_operation(name) : NULL;
        if (there)
            return assay_error("%s: the operation %s is already there: %s has it", origin,
                               there->name, origin_of(there));
    }
    for (int i = 0; i < lists->variants; i++)
        if (check_taken_variant(lists->variant[i], origin)) return -1;
    return 0;
}

static int check_joined(const struct registry_lists *all, const char *origin)
{
    if (registry_check_lists(all->operation, all->operations, all->variant, all->variants) == 0)
        return 0;
    return assay_error("%s: %s", origin, assay_last_error());
}

static bool is_added(const struct assay_object *object)
{
    for (int i = 0; i < addition_count; i++)
        if (additions[i].object == object) return true;
    return false;
}

bool registry_has_more(void)
{
    return addition_count > 0;
}

void registry_forget_own(void)
{
    struct registry_lists left = {0}, none = {0};
    left = registry_lists_join(&none, &none);
    for (int i = 0; i < addition_count; i++) {
        struct registry_lists joint = registry_lists_join(&left, &additions[i].lists);
        registry_lists_release(&left);
        left = joint;
    }
    registry_replace(&left);
}

int registry_add(const struct assay_object *object, const char *origin)
{
    if (is_added(object)) return 0;
    struct addition addition = {.object = object};
    if (registry_lists_of(object, origin, &addition.lists, addition.grown)) return -1;
    addition.origin = strdup(origin);
    if (!addition.origin) return assay_error("out of memory for what %s brings", origin);
    struct registry_lists joint = {0};
    int status = check_taken(&addition.lists, origin);
    if (status == 0) {
        joint = registry_lists_join(registry_known(), &addition.lists);
        status = check_joined(&joint, origin);
    }
    struct addition *added = status == 0 ? grow_add(&additions, &addition_count, sizeof addition,
                                                    "what an object brings")
                                         : NULL;
    if (!added) {
        registry_lists_release(&joint);
        for (int i = 0; i < 3; i++)
            free(addition.grown[i]);
        free(addition.origin);
        return -1;
    }
    *added = addition;
    registry_replace(&joint);
    return 0;
}
