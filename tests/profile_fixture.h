/*
 * profile_fixture.h - what the tests of profiles share: the records of a launch of four
 * activities, and a profile made of them.
 */
#pragma once

#include "store_fixture.h"

#include "device/profile.h"

static inline void plain_name(const char *mangled, char *out, size_t size)
{
    snprintf(out, size, "<%s>", mangled);
}

static inline struct cupti_record kernel(const char *name, uint64_t start, uint64_t end,
                                         uint32_t correlation)
{
    return (struct cupti_record){.kind = CUPTI_KERNEL,
                                 .name = name,
                                 .start_ns = start,
                                 .end_ns = end,
                                 .correlation = correlation,
                                 .registers = 32,
                                 .shared_bytes = 1536,
                                 .dynamic_shared_bytes = 512,
                                 .local_bytes = 0,
                                 .grid = {10, 2, 1},
                                 .block = {128, 1, 1}};
}

/* a, a copy, b that overlaps it, and a again: 0-100, 150-250, 200-400, 500-530 */
enum { RECORDS = 4 };
static inline void make_records(struct cupti_record records[RECORDS])
{
    records[0] = kernel("a", 1000, 1100, 5);
    records[1] = (struct cupti_record){.kind = CUPTI_COPY,
                                       .name = "",
                                       .start_ns = 1150,
                                       .end_ns = 1250,
                                       .correlation = 6,
                                       .registers = -1,
                                       .shared_bytes = -1,
                                       .dynamic_shared_bytes = -1,
                                       .grid = {-1, -1, -1},
                                       .block = {-1, -1, -1}};
    records[2] = kernel("b", 1200, 1400, 7);
    records[3] = kernel("a", 1500, 1530, 8);
}

static int places[RECORDS];

static inline void take(struct profile *profile)
{
    struct cupti_record records[RECORDS];
    make_records(records);
    profile_init(profile);
    profile_take_records(profile, records, RECORDS, plain_name, places);
}

static inline void name_counters(struct profile *profile, const char *first, const char *second)
{
    profile->counter_count = 2;
    strcpy(profile->counter[0], first);
    strcpy(profile->counter[1], second);
}

static struct profile profile; /* too large for a stack that is also others' */
