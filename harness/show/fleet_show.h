/*
 * fleet_show.h - a judged fleet for people and for programs. Prometheus: export/export.h.
 */
#pragma once

#include <stdio.h>

#include "judge/fleet.h"

/* The cards with a finding, cohort by cohort; with `all` every card that was asked for. -1 with
 * assay_error. */
int fleet_print(FILE *out, const struct fleet *fleet, bool all, int width);

/* One document of docs/schemas/fleet.json. */
int fleet_print_json(FILE *out, const struct fleet *fleet);
