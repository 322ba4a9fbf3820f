/*
 * history_fixture.h - what the tests of a history share: runs of one case on a device,
 * each of its day, and the history of them all.
 */
#pragma once

#include "judge/history.h"
#include "store/store_gate.h"
#include "tests/store_fixture.h"

/* NAN: the case crashed. */
static inline void history_launch(struct store *store, const char *run_id, int number,
                                  const struct device_info *device, double time_ns)
{
    struct group group;
    struct plan plan = fixture_plan(&group);
    struct launch_info launch = fixture_launch(run_id, number);
    struct case_result result = fixture_result("fast");
    launch.device = *device;
    result.time_ns = time_ns;
    if (isnan(time_ns)) result.status = STATUS_CRASHED;
    FINE(store_begin_launch(store, &launch, &plan));
    FINE(store_cases(store, launch.id, &group, &result, 1, NULL));
}

/* Runs begin in the order made: their times are set apart by hand. */
static inline void history_date(struct store *store, const char *run_id, int day)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE run SET started_at = strftime('%%Y-%%m-%%dT00:00:00.000Z', '2026-01-01',"
             " '%d days') WHERE id = '%s'",
             day, run_id);
    FINE(store_exec(store, "date a run", sql));
}

/* A run of one launch. */
static inline void history_day(struct store *store, int day, const struct device_info *device,
                               double time_ns)
{
    struct run_info run = fixture_begin_run(store, "");
    history_launch(store, run.id, 1, device, time_ns);
    history_date(store, run.id, day);
}

static inline struct history history_all(struct store *store, int last)
{
    struct history history;
    FINE(history_read(&history, store, "*"));
    FINE(history_analyse(&history, last));
    return history;
}

/* A little noise that is the same every time. */
static inline double history_wobble(int i)
{
    return 1 + 0.001 * (double)(i * 7919 % 13 - 6);
}
