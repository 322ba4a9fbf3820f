/*
 * surroundings.h - what else the processors of this machine do, from /proc/stat and /proc/loadavg.
 * Both count the whole machine, which in a container is more than what the container may use.
 */
#pragma once

#include "case/run_record.h"

/* The counters of all processors since the machine started; NAN, or -1 processors: not known. */
struct machine_use {
    int32_t processors;
    double load;    /* average over the last minute */
    double total_s; /* processors times time */
    double busy_s;  /* that programs and the kernel used */
    double steal_s; /* that the hypervisor gave to other machines */
    double own_s;   /* of busy_s, for this process and its children that were waited for */
};

/* With /proc below `root` ("" but for tests); own_s is this process's. Never fails. */
void machine_use_read(struct machine_use *use, const char *root);

/* Nothing known. */
void surroundings_init(struct surroundings *around);

/* What the machine did between two moments. The shares are NAN where they are too close together
 * for counters that step by 10 ms. */
void surroundings_between(struct surroundings *around, const struct machine_use *from,
                          const struct machine_use *to);

/* From these on, other programs or the hypervisor disturb a measurement. */
#define SURROUNDINGS_MOST_OTHER 0.1
#define SURROUNDINGS_MOST_STEAL 0.02

/* What disturbed a measurement, each as a line's part: "load 9.1 on 2 processors". */
enum { CAUSES_MOST = 8, CAUSE_TEXT = 96 };
struct causes {
    int count;
    char text[CAUSES_MOST][CAUSE_TEXT];
};

/* Add one, as printf has it. */
__attribute__((format(printf, 2, 3))) void causes_add(struct causes *causes, const char *format,
                                                      ...);

/* Add what takes the processors or the GPU (other processes on it; -1: not known) from a
 * measurement at the moment, and nothing where all is quiet or not known. The load is not among
 * it: that of the last minute. */
void surroundings_causes(struct causes *causes, const struct surroundings *around,
                         int other_processes);
