/*
 * registry.h - the operations and variants that were linked into the program (assay.h,
 * registration), and those that shared objects brought. They stay; nothing is freed.
 */
#pragma once

#include "assay.h"

/* The most variants of one operation, host and CUDA together; with its mutants one has 130. A group
 * of a suite takes fewer (PLAN_MAX_VARIANTS). */
enum { REGISTRY_MAX_VARIANTS = 224 };

/* Keys of a group (docs/suites.md) that are no dims, ended by NULL: no dim has such a name. */
extern const char *const registry_group_keys[];
bool registry_is_group_key(const char *name);

/* An object of this version of assay.h that brings these. */
struct assay_object registry_object(const struct assay_operation *const *operations,
                                    int operation_count,
                                    const struct assay_variant *const *variants, int variant_count);

/* Add what an object brings; `origin` is its name in messages. Added once, however often it is
 * asked for. -1 with assay_error, and nothing is added: another version of assay.h, a name that is
 * taken (which says by whom), or what registry_check refuses. Lists that were had before are not
 * valid any more. */
int registry_add(const struct assay_object *object, const char *origin);

/* Whether anything was added. */
bool registry_has_more(void);

/* Leave only what was added: the object of all variants of another build takes the place of the
 * program's own. Lists that were had before are not valid any more. */
void registry_forget_own(void);

/* All operations, sorted by name; returns how many. */
int registry_operations(const struct assay_operation *const **list);

/* The operation of this name, or NULL. */
const struct assay_operation *registry_operation(const char *name);
/* -1 with assay_error: there is none, and what is near, or what there is. */
int registry_no_operation(const char *name);

/* Variants of an operation, host and CUDA: references, then baselines, bounds and kernels,
 * each sorted by name. Writes at most `max`; returns how many it wrote. */
int registry_variants(const char *operation, const struct assay_variant **out, int max);

/* The variants of all operations, in the order of both; returns how many. */
int registry_all_variants(const struct assay_variant *const **list);

/* Names and versions of the loaded vendor libraries of a place, with commas; "" for none. */
void registry_libraries(enum assay_place place, char *out, size_t size);

/* Load all vendor libraries of a place, for callers that only want to know which there
 * are. Writes why the first failure failed; "" if none did. */
void registry_load_libraries(enum assay_place place, char *why, size_t size);

/* Validate everything that is there: names are [a-z0-9_]+, short enough and unique,
 * each variant's operation exists, every dim's fallback is valid, no required function is
 * NULL. -1 with assay_error that names the offender. */
int registry_check(void);

/* The same for given lists; declared for the tests. */
int registry_check_lists(const struct assay_operation *const *operations, int operation_count,
                         const struct assay_variant *const *variants, int variant_count);
