/*
 * profile_counts.h - what is counted of a launch, and is the same in each launch of the same code
 * with the same inputs, however busy the GPU is. Pure.
 */
#pragma once

#include "case/result.h"
#include "device/profile.h"

enum profile_count {
    COUNT_LAUNCHES,     /* activities: kernels, copies, fills */
    COUNT_INSTRUCTIONS, /* warp instructions */
    COUNT_LOCAL_LOADS,  /* warp instructions that read local memory: what was spilled, and stacks */
    COUNT_LOCAL_STORES,
    COUNT_LOCAL_BYTES,  /* of a thread; this and what follows is the sum over the kernels' launches
                         */
    COUNT_REGISTERS,    /* of a thread */
    COUNT_SHARED_BYTES, /* of a block */
    COUNT_WARPS,        /* resident on a multiprocessor at most */
    PROFILE_COUNTS,
};

struct profile_counts {
    double value[PROFILE_COUNTS]; /* NAN: not known */
};

/* The set of counters that it takes (counter_sets.h). */
#define PROFILE_COUNTS_SET "work"

void profile_count(const struct profile *profile, const struct device_info *device,
                   struct profile_counts *counts);

/* How many warps of a kernel can be resident on a multiprocessor: by its registers, its shared
 * memory and the size of its block (CUDA C++ Programming Guide, "Compute Capabilities"; the
 * allocation units are those of the occupancy calculator). 0 where it cannot run. */
int profile_resident_warps(int compute_capability, int64_t shared_sm_bytes, int threads,
                           int registers, int64_t shared_bytes);
