/* quiet.h - waits until no other program uses the processors or the GPU (--wait-quiet). */
#pragma once

#include "run/runner_state.h"

/* Wait up to options->wait_quiet_s, and say on standard error what was waited for, and what there
 * still is when the time is over. The worker must be ready. -1: interrupted. */
int quiet_wait(struct runner *runner);
