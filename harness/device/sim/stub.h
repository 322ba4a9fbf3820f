/*
 * stub.h - what runs on a device that only plays: an operation that takes no
 * time (y = 2 x of a few elements), and launches that do it right, do it wrong,
 * die or never come back. Everything that names or describes a case stays what
 * it was, so that nothing above sees a difference but in the code that runs.
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
