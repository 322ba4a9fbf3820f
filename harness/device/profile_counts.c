#include "device/profile_counts.h"

#include <math.h>

#include "device/counter_sets.h"

enum {
    WARP = 32,
    REGISTERS_SM = 64 << 10,
    REGISTER_UNIT = 256, /* a warp's registers are allocated in such pieces */
    SHARED_UNIT = 128,
    SHARED_RESERVED = 1024, /* of each block, by the system */
};

/* By compute capability x 10; the last one that is not above it. */
static const struct {
    int from, warps, blocks;
} limits[] = {{75, 32, 16}, {80, 64, 32}, {86, 48, 16}, {89, 48, 24}, {90, 64, 32}, {120, 48, 32}};

static int round_up(int64_t value, int unit)
{
    return (int)((value + unit - 1) / unit * unit);
}

int profile_resident_warps(int compute_capability, int64_t shared_sm_bytes, int threads,
                           int registers, int64_t shared_bytes)
{
    int at = 0, warps = (threads + WARP - 1) / WARP;
    for (int i = 0; i < (int)(sizeof limits / sizeof limits[0]); i++)
        if (limits[i].from <= compute_capability) at = i;
    if (warps == 0) return 0;
    int blocks = limits[at].blocks;
    if (limits[at].warps / warps < blocks) blocks = limits[at].warps / warps;
    int per_warp = round_up((int64_t)registers * WARP, REGISTER_UNIT);
    if (registers > 0 && REGISTERS_SM / (per_warp * warps) < blocks)
        blocks = REGISTERS_SM / (per_warp * warps);
    int reserved = compute_capability >= 80 ? SHARED_RESERVED : 0;
    int64_t shared = round_up(shared_bytes + reserved, SHARED_UNIT);
    if (shared > 0 && shared_sm_bytes / shared < blocks) blocks = (int)(shared_sm_bytes / shared);
    return blocks * warps;
}

static void add_kernel(const struct profile_kernel *kernel, const struct device_info *device,
                       struct profile_counts *counts)
{
    int shared = kernel->static_shared_bytes + kernel->dynamic_shared_bytes;
    int threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    counts->value[COUNT_LOCAL_BYTES] += (double)kernel->count * kernel->local_bytes;
    counts->value[COUNT_REGISTERS] += (double)kernel->count * kernel->registers;
    counts->value[COUNT_SHARED_BYTES] += (double)kernel->count * shared;
    counts->value[COUNT_WARPS] +=
        (double)kernel->count * profile_resident_warps(device->compute_capability, device->l1_bytes,
                                                       threads, kernel->registers, shared);
}

void profile_count(const struct profile *profile, const struct device_info *device,
                   struct profile_counts *counts)
{
    static const struct {
        enum profile_count count;
        const char *metric;
    } read[] = {{COUNT_INSTRUCTIONS, COUNTER_INSTRUCTIONS},
                {COUNT_LOCAL_LOADS, COUNTER_LOCAL_LOADS},
                {COUNT_LOCAL_STORES, COUNTER_LOCAL_STORES}};
    *counts = (struct profile_counts){{0}};
    counts->value[COUNT_LAUNCHES] = profile->activities;
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
        counts->value[read[i].count] = profile_counter(profile, profile->whole, read[i].metric);
    for (int i = 0; i < profile->kernel_count; i++)
        if (profile->kernels[i].activity == CUPTI_KERNEL)
            add_kernel(&profile->kernels[i], device, counts);
    if (profile->left_out == 0) return;
    for (int i = COUNT_LOCAL_BYTES; i < PROFILE_COUNTS; i++)
        counts->value[i] = NAN;
}
