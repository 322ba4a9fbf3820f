/*
 * stand_in.h - what runs on a device that only plays: an operation that takes no
 * time (y = 2 x of a few elements), and launches that do it right, do it wrong,
 * die or never come back. Everything that names or describes a case stays what
 * it was, so that nothing above sees a difference but in the code that runs.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include "assay.h"

enum stand_in_act { STAND_IN_RIGHT, STAND_IN_WRONG, STAND_IN_CRASH, STAND_IN_HANG };

/* `operation` with other buffers, reference and checks. */
struct assay_operation stand_in_operation(const struct assay_operation *operation);

/* `variant` with another launch and nothing else to call. */
struct assay_variant stand_in_variant(const struct assay_variant *variant, enum stand_in_act act);

#endif
