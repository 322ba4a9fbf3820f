/*
 * counter_sets.h - the hardware counters that a profile can read, with readable labels
 * and units, and the sets to choose them by. Pure.
 */
#pragma once

#include "device/profile.h"

/* The metrics that the rules (profile_rules.h) and the tables use by name. */
#define COUNTER_TIME         "gpu__time_duration.sum"
#define COUNTER_DRAM_READ    "dram__bytes_read.sum"
#define COUNTER_DRAM_WRITE   "dram__bytes_write.sum"
#define COUNTER_DRAM         "dram__throughput.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_L2           "lts__throughput.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_L2_HIT       "lts__t_sector_hit_rate.pct"
#define COUNTER_SM           "sm__throughput.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_AT_WORK      "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
#define COUNTER_TENSOR       "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
#define COUNTER_FMA          "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"
#define COUNTER_ISSUE        "smsp__issue_active.avg.pct_of_peak_sustained_active"
#define COUNTER_OCCUPANCY    "sm__warps_active.avg.pct_of_peak_sustained_active"
#define COUNTER_CLOCK        "sm__cycles_elapsed.avg.per_second"
#define COUNTER_INSTRUCTIONS "smsp__inst_executed.sum"
#define COUNTER_LOCAL_LOADS  "smsp__inst_executed_op_local_ld.sum"
#define COUNTER_LOCAL_STORES "smsp__inst_executed_op_local_st.sum"
#define COUNTER_STALL(why)   "smsp__average_warps_issue_stalled_" why "_per_issue_active.ratio"

enum counter_unit {
    COUNTER_NS,
    COUNTER_BYTES,
    COUNTER_PCT,
    COUNTER_HZ,
    COUNTER_CYCLES, /* of a stall: cycles that a warp waits per issued instruction */
    COUNTER_PLAIN,
};

struct counter_label {
    const char *metric, *label;
    enum counter_unit unit;
};

/* Label and unit of a metric; an unknown metric is its own label, with COUNTER_PLAIN. */
struct counter_label counter_label(const char *metric);

/* "ns", "bytes", "pct", "hz", "cycles", "plain". */
const char *counter_unit_name(enum counter_unit unit);

/* Write the value with its unit: "91.2 %", "250 MB", "-" for NAN. */
void counter_text(char *out, size_t size, enum counter_unit unit, double value);

/* Parse a comma-separated list of sets (default, memory, compute, stalls, work, all, none) and
 * metrics by NVIDIA's names; NULL: default. Writes each metric once and returns how many,
 * or -1 with assay_error. */
int counter_list(const char *list, char out[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC]);

/* The names of the sets, for messages: "default, memory, ...". */
extern const char counter_set_names[];
