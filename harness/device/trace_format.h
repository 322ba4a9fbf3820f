/*
 * trace_format.h - the file in which a process of somebody else's program records the kernels that
 * it ran: written by the library that is loaded into it (device/cuda/inject), read by the room
 * trace. docs/any-program.md describes it for others.
 *
 * One file per process: the header, then blocks. A block is whole or not there: the tail of a
 * process that was killed while it wrote is passed over. All numbers are as this machine has them,
 * times in nanoseconds of the device's clock.
 *
 * Every launch is counted; the duration of a launch is kept or not by its number alone, so that a
 * file stays small. Launch i of a series is kept at `level` n if the first n bits of trace_hash(i)
 * are 0: all of them at level 0, a pseudo-random half of them at level 1. What is kept at a level
 * is kept at all lower ones, so a reader can thin out what a process kept, and chance (rather than
 * each second one) is what kernels that alternate between two sizes need.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

#define TRACE_MAGIC  "assaytrc"
#define TRACE_SUFFIX ".trace"
/* The range of launches from ranges that are too many to be told apart. */
#define TRACE_MORE_RANGES "(more ranges)"
enum {
    TRACE_VERSION = 1,
    TRACE_KEEP = 4096, /* durations of one series at a level; about as many stay at the next */
};

struct trace_header {
    char magic[8]; /* TRACE_MAGIC, without an end */
    uint32_t version;
    uint32_t pid;
};

enum trace_type {
    TRACE_NAME = 1, /* text without an end: of a kernel, mangled, or of a range. The first is 1 */
    TRACE_DEVICE,   /* struct trace_device */
    TRACE_SERIES,   /* struct trace_series. The first is 0 */
    TRACE_BATCH,    /* struct trace_batch, its totals, its durations */
    TRACE_FAILED,   /* text without an end: why nothing more is recorded */
    TRACE_END,      /* nothing: the process ended in order, and all it ran is here */
};

struct trace_block {
    uint32_t type;  /* enum trace_type */
    uint32_t bytes; /* that follow; the next block begins at a multiple of 8 */
};

/* A figure that could not be had is -1. */
struct trace_device {
    int32_t ordinal; /* as the process numbers its devices */
    int32_t compute_capability;
    int32_t multiprocessors;
    int32_t unused;
    int64_t l1_bytes, cache_bytes, memory_bytes; /* shared memory and L1 of a multiprocessor; L2 */
    char name[104];
    char uuid[48]; /* "GPU-..." */
};

/* The launches of one kernel, from one range, on one device. The rest is of its first launch. */
struct trace_series {
    int32_t device; /* its ordinal */
    uint32_t range; /* number of its name; 0: launched from no range */
    uint32_t kernel;
    int32_t grid[3], block[3];
    int32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
    int32_t unused;
};

/* Of a series since its beginning: the last one that was written holds. */
struct trace_total {
    uint32_t series;
    uint32_t level;     /* of the durations kept from here on */
    uint32_t is_varied; /* grid, block or shared memory were not the same in all launches */
    uint32_t unused;
    uint64_t count, total_ns, min_ns, max_ns;
};

struct trace_duration {
    uint32_t series;
    uint32_t launch; /* its number in the series, from 0 */
    float ns;
};

struct trace_batch {
    uint64_t lost;      /* launches so far whose records were lost */
    uint32_t totals;    /* how many struct trace_total follow, each series at most once */
    uint32_t durations; /* and then how many struct trace_duration */
};

/* Whether a launch is kept at a level. */
static inline bool trace_keeps(uint32_t launch, uint32_t level)
{
    return level == 0 || (level < 64 && rng_mix(0, launch) >> (64 - level) == 0);
}
