/*
 * history.h - cases over runs: one value a run, and where its level changed. It
 * reports and judges nothing.
 *
 * A series is one case on one device. Where another device took the first one's
 * place for good, the series goes on behind a border; devices that take turns
 * have a series each. A border also stands where the firmware, the driver, the
 * CUDA runtime, the clock or the flush changed: levels on its two sides are
 * shown beside each other, and no test looks across.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "store_gate.h"

enum { HISTORY_MAX_WORDS = 16 };

/* What was asked for. Strings are borrowed. */
struct history_filter {
    const char *glob; /* of operation/variant; without a slash the operation's alone will do */
    const char *word[HISTORY_MAX_WORDS]; /* n=5000000, dtype=b*, cold, hot */
    int word_count;
};

struct history_run {
    char id[STORE_ID];
    char suite[ASSAY_MAX_NAME], label[RESULT_MAX_PROPERTY];
    char commit[RESULT_MAX_PROPERTY];
    char started_at[32];
};

/* What a launch ran on and with; launches with equal settings share one. */
struct history_setting {
    int device; /* the first setting that is of this very device */
    char name[RESULT_MAX_PROPERTY], uuid[RESULT_MAX_PROPERTY], vbios[RESULT_MAX_PROPERTY];
    char driver[RESULT_MAX_PROPERTY], runtime[RESULT_MAX_PROPERTY];
    int32_t clock; /* enum clock_source, -1 unknown */
    int32_t flush; /* enum cache_flush */
    bool simulated;
};

struct history_point {
    int run, setting; /* indices */
    int launches;     /* whose median time_ns is */
    double time_ns;
};

/* What differs between the two sides of a border, bits. None: a change. */
enum history_cause {
    CAUSE_DEVICE = 1,
    CAUSE_FIRMWARE = 2,
    CAUSE_DRIVER = 4,
    CAUSE_RUNTIME = 8,
    CAUSE_CLOCK = 16,
    CAUSE_FLUSH = 32,
};
enum { HISTORY_CAUSES = 6 };

/* The begin of a new level. */
struct history_change {
    int at; /* its first point */
    unsigned causes;
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

/* The series that match, without changes (store_history.c). -1 with assay_error. */
int history_read(struct history *history, struct store *store, const struct history_filter *filter);
void history_release(struct history *history);

/* Split by device where devices take turns, keep the newest `last` points of each
 * series (0: all), and find the changes. */
int history_analyse(struct history *history, int last);

/* The index of a setting equal to this one, added if it is new; -1 with
 * assay_error. Sets its `device`. */
int history_setting_index(struct history *history, struct history_setting *setting);

/* Whether the filter takes a case. */
bool history_takes(const struct history_filter *filter, const struct case_id *id);

/* "device", "firmware", ... of one bit. */
const char *history_cause_name(enum history_cause cause);
/* What that was in a setting, as people read it. */
const char *history_cause_value(enum history_cause cause, const struct history_setting *setting);

/* Whether the ack is about the case. */
bool history_ack_covers(const struct ack *ack, const struct case_id *id);

/* ------------------------------------------------------------- reports -- */

/* `width`: cells of the sparkline; `utf8`: whether it may use block characters. */
int history_print(FILE *out, const struct history *history, int width, bool utf8);
int history_print_json(FILE *out, const struct history *history);

#endif
