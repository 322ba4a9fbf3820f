/*
 * counter_sets.h - which hardware counters a profile reads, and how people call
 * them. Pure.
 */
#ifndef COUNTER_SETS_H
#define COUNTER_SETS_H

#include "device/profile.h"

/* The metrics that the rules (profile_rules.h) and the tables know. */
#define COUNTER_TIME       "gpu__time_duration.sum"
#define COUNTER_DRAM_READ  "dram__bytes_read.sum"
#define COUNTER_DRAM_WRITE "dram__bytes_write.sum"
#define COUNTER_DRAM       "dram__throughput.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_L2         "lts__throughput.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_L2_HIT     "lts__t_sector_hit_rate.pct"
#define COUNTER_SM         "sm__throughput.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_AT_WORK    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_TENSOR     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
#define COUNTER_FMA        "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"
#define COUNTER_ISSUE      "smsp__issue_active.avg.pct_of_peak_sustained_active"
#define COUNTER_OCCUPANCY  "sm__warps_active.avg.pct_of_peak_sustained_active"
#define COUNTER_CLOCK      "sm__cycles_elapsed.avg.per_second"
#define COUNTER_STALL(why) "smsp__average_warps_issue_stalled_" why "_per_issue_active.ratio"

enum counter_unit {
    COUNTER_NS,
    COUNTER_BYTES,
    COUNTER_PCT,
    COUNTER_HZ,
    COUNTER_CYCLES, /* a stall: cycles that a warp waits for it, an instruction */
    COUNTER_PLAIN,
};

struct counter_label {
    const char *metric, *label;
    enum counter_unit unit;
};

/* How people call a metric; a metric not in the table is its own label, and plain. */
struct counter_label counter_label(const char *metric);

/* The value with its unit: "91.2 %", "250 MB", "-" for NAN. */
void counter_text(char *out, size_t size, enum counter_unit unit, double value);

/* `list` names sets (default, memory, compute, stalls, all, none) and metrics by
 * NVIDIA's names, a comma between; NULL: default. Writes each metric once and
 * returns how many, or -1 with assay_error. */
int counter_list(const char *list, char out[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC]);

/* The names of the sets for a message: "default, memory, ...". */
extern const char counter_set_names[];

#endif
