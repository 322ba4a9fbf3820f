/*
 * twins.h - variants of another build, to be measured beside those of the registry in one process.
 *
 * A twin has the operation, place and kind of a variant that is there, and its name with "@base"
 * behind it, or "@null" in a second copy of the same code. No name in the registry has such a sign,
 * so twins are kept apart from it: plans and suites do not know them.
 */
#pragma once

#include "case/work.h"

enum twin { TWIN_BASE, TWIN_NULL, TWINS };

/* What the measurement of a variant beside its twins is to decide: whether the two differ by more
 * than `floor`, a fraction. 0: it is not measured beside twins. */
struct twin_goal {
    double floor;
    double alpha; /* error rate of all its looks together */
};

/* Twins are launched in turns, each of them once, and looked at after 16, 32, 64 ... turns, and
 * once more where the time for them ends. */
enum { TWIN_FIRST_TURNS = 16, TWIN_MOST_TURNS = 16384, TWIN_LOOKS = 12 };

/* Split "x@base" into "x" and TWIN_BASE; -1: it is no twin's name, and `plain` is all of it. */
int twin_split(const char *name, char plain[ASSAY_MAX_NAME]);

/* Add all variants of an object as twins. Their operations are those that it brings, else those of
 * the registry. -1 with assay_error, and nothing is added: as registry_add says, but that names may
 * be taken. */
int twins_add(const struct assay_object *object, enum twin twin, const char *origin);

/* The twin of a variant; NULL: none. */
const struct assay_variant *twins_of(const struct assay_variant *variant, enum twin twin);
/* The twin of this name; NULL: none. */
const struct assay_variant *twins_named(const char *operation, const char *name,
                                        enum assay_place place);

/* The variant of the object that a twin is a copy of; any other variant is its own. */
const struct assay_variant *twins_original(const struct assay_variant *variant);

/* Whether a twin can take the buffers that were made for a variant of the registry: the dims of
 * both operations have the same names, kinds and order, and the buffers of the shape the same
 * roles, types, counts and fills. NULL, or why not. */
const char *twins_obstacle(const struct assay_variant *twin, const struct assay_shape *shape);

/* The work of the shape, as the twin's own operation states it. */
struct case_work twins_work(const struct assay_variant *twin, const struct assay_shape *shape);
