/*
 * registry.h - the operations and variants that were linked in (assay.h,
 * registration). Borrowed constants of static lifetime; nothing is freed.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "assay.h"

/* The most variants of one operation, over both places. */
enum { REGISTRY_MAX_VARIANTS = 128 };

/* Keys of a suite's group with a meaning of their own (docs/suites.md), ended
 * by NULL: no dim may have such a name. */
extern const char *const registry_group_keys[];

/* All operations, sorted by name; returns how many. */
int registry_operations(const struct assay_operation *const **list);

/* The operation of this name, or NULL. */
const struct assay_operation *registry_operation(const char *name);

/* Variants of an operation on every place: references, baselines, kernels, each
 * by name. Writes at most `max`; returns how many it wrote. */
int registry_variants(const char *operation, const struct assay_variant **out, int max);

/* Names and versions of the vendor libraries of a place that are loaded, with
 * commas; "" none. */
void registry_libraries(enum assay_place place, char *out, size_t size);

/* Load all of a place, for one who asks what there is and measures nothing. Writes why the
 * first that cannot be loaded cannot; "" none. */
void registry_load_libraries(enum assay_place place, char *why, size_t size);

/* Whether what was linked in is sound: names are [a-z0-9_]+, fit and are unique,
 * each variant's operation exists, every dim's fallback is possible, nothing
 * needed is NULL. -1 with assay_error that names the culprit. */
int registry_check(void);

/* The same for lists that are given. */
int registry_check_lists(const struct assay_operation *const *operations, int operation_count,
                         const struct assay_variant *const *variants, int variant_count);

#endif
