/* sim_rules.h - checks the globs of a simulated device against the registered variants. */
#pragma once

#include "device/sim/sim_spec.h"

/* Check that every glob matches a host variant. -1 with assay_error, which suggests a
 * similar name: a rule that matches nothing would let a test pass that tests nothing. */
int sim_rules_check(const struct sim_spec *spec);
