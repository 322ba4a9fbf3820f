/*
 * history.h - the times of cases over many runs, one value per run, and where their level
 * changed. For reporting only: it makes no verdict.
 *
 * A series is one case on one device. If another device replaces the first for good, the
 * series continues after a border; devices that alternate have separate series. There is
 * also a border where any other comparability part changed (comparability.h: firmware,
 * driver, power limit, ...): levels before and after it are both shown, but no test spans
 * it. If a part is unknown in some runs, the next run with a known value is compared with
 * the last one before.
 */
#pragma once

#include "case/case_name.h"
#include "case/comparability.h"
#include "case/run_record.h"

/* An acknowledged change. */
struct ack {
    char pattern[CASE_TEXT]; /* of cases (case_name.h) */
    char reason[ASSAY_MAX_REASON];
    char commit[RESULT_MAX_PROPERTY]; /* "" not given */
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

/* The conditions of a launch; launches with equal parts share one. */
struct history_setting {
    int device;                 /* index of the first setting with this device */
    struct device_info facts;   /* only the members that the parts are made of are set */
    struct comparability parts; /* the same as text */
};

struct history_point {
    int run, setting; /* indices */
    int launches;     /* time_ns is the median over these */
    double time_ns;
    double lo_ns, hi_ns; /* stats_over_launches; of one launch, of its samples; NAN: unknown */
};

/* The start of a new level. */
struct history_change {
    int at;          /* its first point */
    unsigned causes; /* parts that changed, one bit each; PART_NAME: another device; 0: none */
    double before_ns, after_ns; /* medians from the change before, and to the next */
};

struct history_series {
    struct case_id id;            /* kind is -1 */
    struct history_point *points; /* in order of time */
    int point_count;
    int failed; /* runs that have the case but no time for it */
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
    struct ack *acks; /* oldest first */
    int ack_count;
};

void history_release(struct history *history);

/* Split series whose devices alternate, keep the newest `last` points of each series (0:
 * all), and find the changes. */
int history_analyse(struct history *history, int last);

/* The index of the setting with exactly these parts, unknown ones included; added if it is
 * new. -1 with assay_error. */
int history_setting_index(struct history *history, const struct device_info *device);

bool history_is_cause(const struct history_change *change, enum comparability_part part);
/* The text of a part before the point, which is the newest known value of the preceding
 * point's device, and at the point; "" unknown. */
const char *history_part_before(const struct history *history, const struct history_series *series,
                                int at, enum comparability_part part);
const char *history_part_at(const struct history *history, const struct history_series *series,
                            int at, enum comparability_part part);

/* Why there is a border: "driver 570 -> 580, ECC on -> off", "another device"; "" at a change. */
void history_border_text(const struct history *history, const struct history_series *series,
                         const struct history_change *change, char *out, size_t size);

/* How much a case usually changes from run to run: a change below this is not significant.
 * Tukey's outer fence, as rustc-perf uses it: Q3 + 3 (Q3 - Q1) of the absolute changes between
 * successive points with this setting, newest FENCE_MOST_CHANGES, as a fraction; NAN with fewer
 * than FENCE_LEAST_CHANGES. The quartiles of few changes may be small by chance, so a fence of n is
 * 1 + 10 / n times as far out (docs/gate-statistics.md has what that is worth). Pure. */
enum { FENCE_LEAST_CHANGES = 10, FENCE_MOST_CHANGES = 100 };
double history_fence(const struct history_series *series, int setting);
/* That of a case; NAN where it has no series. */
double history_case_fence(const struct history *history, const struct case_id *id, int setting);
