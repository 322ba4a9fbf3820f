/*
 * causes.h - what was seen that may have made times noisy: what else used the machine during the
 * launches, and what the device's clock did. Pure.
 */
#pragma once

#include "case/surroundings.h"

/* What the clock of a device did during some cases. */
struct clock_seen {
    double least_mhz, most_mhz; /* SM clocks; begins at INFINITY and 0 */
    uint64_t reasons;           /* clock event reasons, as NVML has them */
};

/* Add one case's; a clock of NAN is left out. */
void clock_seen_add(struct clock_seen *seen, double sm_mhz, uint64_t reasons);

/* Add the worst that any of the launches saw; nothing where all was quiet or is not known. */
void causes_of_launches(struct causes *causes, const struct launch_info *launches, int count);
void causes_of_clock(struct causes *causes, const struct clock_seen *seen);
