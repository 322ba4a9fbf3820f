/*
 * registry_lists.h - the lists of the registry, for what adds to them.
 */
#pragma once

#include <stddef.h>

#include "assay.h"

struct registry_lists {
    const struct assay_operation **operation;
    const struct assay_variant **variant;
    const struct assay_library **library;
    int operations, variants, libraries;
};

/* What is there: the program's own and what was added, each list in the order of registry.h. */
const struct registry_lists *registry_known(void);

/* Both together, in that order; registry_lists_release frees. */
struct registry_lists registry_lists_join(const struct registry_lists *a,
                                          const struct registry_lists *b);
void registry_lists_release(struct registry_lists *lists);

/* What an object brings, in its order: borrowed from it, or in `grown`, for free(3). -1 with
 * assay_error: another version of assay.h, or a gap in a list. */
int registry_lists_of(const struct assay_object *object, const char *origin,
                      struct registry_lists *lists, void *grown[3]);

/* Take these over in the place of what is there. */
void registry_replace(struct registry_lists *lists);

/* The same list of `count` pointers to structs of `had` bytes with zeros behind each, to `bytes`:
 * for structs of an older assay.h. *block, for free(3), has the list and the structs; it is NULL
 * where nothing is missing, and then the list is `list`. */
const void *registry_grow(const void *list, int count, size_t had, size_t bytes, void **block);
