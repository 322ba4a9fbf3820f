/*
 * ab_offer.h - the `assay ab` that would decide what a comparison of two stored runs leaves open
 * because they have too few launches.
 */
#pragma once

#include <limits.h>

#include "judge/compare.h"

enum { AB_OFFER_FILTER = 1200 };

struct ab_offer {
    int open;               /* cases it would decide; 0: there is nothing to offer */
    char side[2][PATH_MAX]; /* base and candidate: a revision or a program */
    char suite[512];        /* its name or file */
    char lacks[512];        /* what of these is a placeholder, and what to put there; "": none */
    char device[RESULT_MAX_SPEC]; /* of both; "": each has its own */
    char own_device[2][RESULT_MAX_SPEC];
    char filter[AB_OFFER_FILTER]; /* "": the whole suite */
    bool simulated;
    bool of_objects; /* what differs is the shared objects that they loaded */
    bool loads;      /* both loaded the same ones */
    bool one_build;  /* of both runs, on one device: nothing for assay ab, and more launches help */
};

/* What is to be measured is found from the provenance of the runs: a revision where the tree was
 * clean, this very program where it made the run. The command, with the options that were given,
 * goes into comparison->next; --db where `db` is not the usual database. */
void ab_offer_make(struct ab_offer *offer, struct comparison *comparison,
                   const struct compare_options *options, const char *db);
