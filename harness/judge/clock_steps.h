/*
 * clock_steps.h - times that are hardly longer than the steps of their clock. Pure.
 *
 * A GPU's timestamps advance in steps (32 ns on an H200), so a kernel of 610 ns is read as 608 or
 * 640 ns, and the median of a launch falls on one of the two: nothing below two steps could be
 * told from it. But a launch begins anywhere within a step, so the longer reading is as frequent
 * as the time is nearer to it, and a mean of the readings is the time itself (dither: Widrow and
 * Kollar, Quantization Noise, 2008, chapter 19). Trimmed, it is as good against rare slow samples
 * as a median needs to be. Short cases are judged by it.
 */
#pragma once

#include <stdbool.h>

/* Only cases that take less are looked at. */
#define CLOCK_STEPS_MOST_NS 20000.0

/* Both ends of both times that are compared lie anywhere within a step. */
static const double WHOLE_STEPS = 2;

/* The samples of one launch; all 0 for one that is not looked at. */
struct clock_steps {
    double mean_ns; /* without a tenth of the samples at each end, of three or more one at least */
    double step_ns; /* between neighbouring readings; 0: they are not in steps */
    bool dithers;   /* more than one reading in twenty, and two at least, is on another step */
};

/* Sorts the samples. */
struct clock_steps clock_steps_of(double *time_ns, int count);

struct timings;
struct case_id;

/* What a case is judged by. */
enum metric_kind {
    METRIC_MEDIAN,  /* the time in ns */
    METRIC_MEAN,    /* the trimmed mean of the samples in ns; of a long time the median */
    METRIC_SPEEDUP, /* the time divided by that of the group's baseline in the same launch */
    METRIC_SHARE,   /* the time divided by that of the ceiling of its run */
};

/* How a case is to be told from its launches on both sides. */
struct clock_sight {
    enum metric_kind metric;
    double resolution_ns; /* no smaller difference of times can be seen; 0 unknown */
};

/* From the first `launches` launches of each side (0: all). Means are taken where two steps are
 * more than half a per cent of the time, but not of one launch on each side, whose interval is that
 * of a median. */
struct clock_sight clock_sight_of(const struct timings *base, const struct timings *candidate,
                                  const struct case_id *id, int launches, bool speedup);
