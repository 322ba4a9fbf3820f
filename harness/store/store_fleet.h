/*
 * store_fleet.h - what the newest runs of all cards say, for judge/fleet.h.
 */
#pragma once

#include "judge/fleet.h"
#include "store/store.h"

/* Which runs; NULL: any. Launches of gates and calibrations never are among them. */
struct fleet_choice {
    const char *label; /* of the runs */
    const char *suite;
    const char *since;  /* when they began at the earliest: a timestamp, or the beginning of one */
    const char *filter; /* of cases (case/case_name.h) */
    bool simulated;     /* simulated devices too */
};

/* The cards with their cohorts, and the times of their newest run of each suite, as far as that was
 * of the same cohort as the card's newest run. fleet_release, and free(*values). -1 with
 * assay_error. */
int store_read_fleet(struct store *store, const struct fleet_choice *choice, struct fleet *fleet,
                     struct fleet_value **values, int *count);
