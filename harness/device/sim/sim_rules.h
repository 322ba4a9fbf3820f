/* sim_rules.h - whether the globs of a simulated device mean anything here. */
#ifndef SIM_RULES_H
#define SIM_RULES_H

#include "device/sim/sim_spec.h"

/* Every glob matches a variant of the host that was linked in. -1 with
 * assay_error, which suggests what is near: a rule that matches nothing would
 * let a test pass that tests nothing. */
int sim_rules_check(const struct sim_spec *spec);

#endif
