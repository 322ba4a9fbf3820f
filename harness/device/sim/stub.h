/*
 * stub.h - what runs on the simulated device in place of real variants: a trivial
 * operation (y = 2 x on a few elements) whose launch is right, wrong, crashes or hangs.
 * Names, shape and declared work stay those of the real operation and variant, so the
 * code above sees no difference.
 */
#pragma once

#include "assay.h"
#include "device/sim/sim_spec.h"

/* `operation` with other buffers, reference and checks. */
struct assay_operation stub_operation(const struct assay_operation *operation);

/* `variant` with nothing to call but a launch that ends as the fate says, the others right. */
struct assay_variant stub_variant(const struct assay_variant *variant, enum sim_fate fate);
