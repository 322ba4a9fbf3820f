/*
 * history.h - cases over runs: one value a run, and where its level changed. It
 * reports and judges nothing.
 *
 * A series is one case on one device. Where another device took the first one's
 * place for good, the series goes on behind a border; devices that take turns
 * have a series each. A border also stands where another part of what makes times
 * comparable changed (comparability.h: firmware, driver, power limit, ...): levels on
 * its two sides are shown beside each other, and no test looks across. Where nobody
 * knows a part, nobody knows that it changed: the next run that has it is held
 * against the last that had.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "case/case_name.h"
#include "case/comparability.h"
#include "case/run_record.h"

/* A change that somebody has taken on. */
struct ack {
    char pattern[CASE_TEXT]; /* of cases (case_name.h) */
    char reason[ASSAY_MAX_REASON];
    char commit[RESULT_MAX_PROPERTY]; /* "" not said */
    double up_to;                     /* largest ratio accepted; NAN: any */
    char expires_at[32];
    char set_at[32];
    bool expired;
};
struct history_run {
    char id[STORE_ID];
    char suite[ASSAY_MAX_NAME], label[RESULT_MAX_PROPERTY];
    char commit[RESULT_MAX_PROPERTY];
    char started_at[32];
};

/* What a launch ran on and with; launches with equal parts share one. */
struct history_setting {
    int device;                 /* the first setting that is of this very device */
    struct device_info facts;   /* what the parts are made of, and no more is read */
    struct comparability parts; /* the same as people read it */
};

struct history_point {
    int run, setting; /* indices */
    int launches;     /* whose median time_ns is */
    double time_ns;
};

/* The begin of a new level. */
struct history_change {
    int at;          /* its first point */
    unsigned causes; /* the parts that differ, a bit each; PART_NAME of any other device. 0: none */
    double before_ns, after_ns; /* medians from the change before, and to the next */
};

struct history_series {
    struct case_id id;            /* its kind is not read: -1 */
    struct history_point *points; /* in time */
    int point_count;
    int failed; /* runs that have the case and no time for it */
    struct history_change *changes;
    int change_count;
};

struct history {
    struct history_run *runs; /* oldest first */
    int run_count;
    struct history_setting *settings;
    int setting_count;
    struct history_series *series; /* by operation, variant, shape, temperature, place, time */
    int series_count;
    struct ack *acks; /* oldest first; none where the database keeps none */
    int ack_count;
};

void history_release(struct history *history);

/* Split by device where devices take turns, keep the newest `last` points of each
 * series (0: all), and find the changes. */
int history_analyse(struct history *history, int last);

/* The index of the setting with the device's parts, all of them, what nobody knows
 * included; added if it is new. -1 with assay_error. */
int history_setting_index(struct history *history, const struct device_info *device);

bool history_is_cause(const struct history_change *change, enum comparability_part part);
/* What the part was before the point and is at it, as people read it; "" unknown. The
 * one before is the newest that is known of the device of the point before. */
const char *history_part_before(const struct history *history, const struct history_series *series,
                                int at, enum comparability_part part);
const char *history_part_at(const struct history *history, const struct history_series *series,
                            int at, enum comparability_part part);

#endif
