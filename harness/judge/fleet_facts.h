/* fleet_facts.h - what cards say of themselves, and which of their cases failed, for fleet.c. */
#pragma once

#include "judge/fleet.h"

/* Count the failures of one case of one cohort (adjacent values of a card are one) where most of
 * the cards have the case and are right: what fails everywhere is the program's fault. */
void fleet_count_failures(struct fleet *fleet, const struct fleet_value *values, int count);

/* The findings of all cards with their reasons, from the measures that were found and the facts. */
void fleet_say_findings(struct fleet *fleet);
