/*
 * twin_processes.h - the decision between two builds whose launches were shuffled in several
 * processes. Pure.
 *
 * Where a copy of code or its memory lies makes a launch faster or slower for as long as the
 * process lives, which no number of turns evens out (twin.h). So each process loads all three
 * copies anew: the candidate and the base twice. The model is that each copy's place, and what its
 * turns leave uncertain, adds a normal draw to ln(time), of one variance for all copies of a case,
 * and that nothing else differs between the processes.
 *
 * Then what a process says of the change (the candidate against the mean of both copies of the
 * base, with 3/2 of that variance) and what it says of the copies (the second against the first,
 * with twice that variance) are independent, and with n processes the variance has 2 n - 1 degrees
 * of freedom: n - 1 from the changes around their mean, n from the copies around zero. The test is
 * Student's, at a quarter of the error rate that is asked for: where copies lie well or badly and
 * nothing between, it holds the whole rate in a gate of a hundred such cases, from eight processes
 * on (docs/gate-statistics.md).
 */
#pragma once

#include "judge/twin.h"

enum { TWIN_LEAST_PROCESSES = 8, TWIN_MOST_PROCESSES = 64 };

/* What one process found; both are logarithms of ratios of times. */
struct twin_process {
    double change; /* the candidate to the mean of both copies of the base */
    double copies; /* the second copy of the base to the first */
};

/* From the turns of one process. False: they are too few. */
bool twin_process_read(const struct twin_case *turns, struct twin_process *found);

/* Judge a case by `count` processes; REGRESSED and IMPROVED at `alpha` each (twin_alpha_of), PASS
 * at 5 %. Of `one`, threshold and quantum are given. */
void twin_processes_judge(struct twin_case *one, const struct twin_process *process, int count,
                          double alpha);
