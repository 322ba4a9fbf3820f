/*
 * counts.h - whether a candidate does more work than its base, by what is counted of a launch of
 * each (device/profile_counts.h). Pure. No quiet GPU is needed: counts do not depend on it.
 *
 * One launch of each is enough where they agree: counters to 0.1 %, everything else exactly. Where
 * they do not, four more of each say whether the count is the code's or the launch's (a kernel that
 * spins, atomics that are tried again): it is the code's where all launches of each side agree. A
 * count that takes either of two values by chance passes for a change once in five hundred times.
 */
#pragma once

#include "device/profile_counts.h"
#include "judge/verdict.h"

enum { COUNTS_ROUNDS = 5 };

struct counted_case {
    struct case_id id;
    int rounds[2]; /* of base and candidate */
    struct profile_counts base[COUNTS_ROUNDS], candidate[COUNTS_ROUNDS];
};

/* Whether further rounds are to decide: the first ones differ. */
bool counts_differ(const struct counted_case *one);

/* REGRESSED: more launches, warp instructions, local memory, or fewer resident warps. IMPROVED:
 * fewer, and none of those. PASS: neither; registers and shared memory alone are told in the
 * reason. INCONCLUSIVE: a count that differs is not the same in all launches of a side, or there
 * are none. */
enum verdict counts_judge(const struct counted_case *one, char reason[ASSAY_MAX_REASON]);
