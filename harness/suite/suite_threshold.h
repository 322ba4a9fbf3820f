/*
 * suite_threshold.h - the smallest change that counts, as the groups of a suite
 * say it ("threshold = 3", in per cent). Read from the text that a run keeps of its
 * suite, so that a comparison made later, or elsewhere, goes by the same. Pure.
 */
#ifndef SUITE_THRESHOLD_H
#define SUITE_THRESHOLD_H

#include "assay.h"

struct suite_threshold {
    char group[ASSAY_MAX_NAME]; /* label, or a claim's id; "" of the [suite] itself */
    int file;                   /* how many included files are before it in the text */
    double threshold;           /* a fraction; NAN: says nothing */
};

struct suite_thresholds {
    struct suite_threshold *sections;
    int count;
};

/* `text`: run.suite_text (suite.h), which was checked when the run was made; "" or
 * NULL has no groups. -1 with assay_error when out of memory. */
int suite_thresholds_read(struct suite_thresholds *thresholds, const char *text);
void suite_thresholds_release(struct suite_thresholds *thresholds);

/* Of the group; else of its file's [suite], else of the first one; NAN none. Where
 * files have groups of one label, the smallest. */
double suite_threshold_of(const struct suite_thresholds *thresholds, const char *group);

#endif
