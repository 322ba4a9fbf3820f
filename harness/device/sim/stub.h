/*
 * stub.h - what runs on the simulated device in place of real variants: a trivial
 * operation (y = 2 x on a few elements) whose launch is right, wrong, crashes or hangs.
 * Names, shape and declared work stay those of the real operation and variant, so the
 * code above sees no difference.
 */
#ifndef STUB_H
#define STUB_H

#include "assay.h"

enum stub_behaviour { STUB_RIGHT, STUB_WRONG, STUB_CRASH, STUB_HANG };

/* `operation` with other buffers, reference and checks. */
struct assay_operation stub_operation(const struct assay_operation *operation);

/* `variant` with another launch and nothing else to call. */
struct assay_variant stub_variant(const struct assay_variant *variant,
                                  enum stub_behaviour behaviour);

#endif
