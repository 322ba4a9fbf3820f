/*
 * device.h - the seam between measuring and what is measured on.
 *
 * A device lives in a worker process. device_host.c, device_cuda.c and
 * device_sim.c each fill one table; nothing above asks which it talks to.
 * Every function returns 0, or -1 after assay_error.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "assay.h"
#include "case/result.h"

struct device;          /* each implementation's own */
struct measure_request; /* measure_request.h */
struct profile;         /* profile.h */

struct device_options {
    const char *spec;  /* "auto", "host", "cuda:0", "sim:seed=1" */
    bool use_events;   /* --clock event: never load CUPTI */
    bool try_counters; /* find out whether hardware counters can be read: a line of
                        * device_info.lost where not. Such a device times nothing after. */
    int32_t flush;     /* enum cache_flush; -1: the device's own choice */
    uint64_t seed;
};

/* One block of samples of one case. */
struct block {
    const struct assay_variant *variant;
    struct assay_call *call;
    enum assay_temperature temperature;
    int count;       /* samples wanted */
    double hold_ns;  /* keep the queue busy this long so that the host stays ahead */
    bool no_warm_up; /* hot, but without the launch ahead of the first sample */
};

struct block_sample {
    double time_ns, busy_ns, event_ns; /* NAN where not read */
    uint8_t mark;
};

/* A block as a whole. */
struct block_totals {
    double wall_ns; /* the host's clock: one launch, from the call to the completed
                     * synchronisation; NAN: not taken */
    int launches;   /* of the variant, timed or not */
};

/* What the clock saw of the code that ran in a block; for provenance. */
struct code_seen {
    char hash[RESULT_MAX_HASH];
    int32_t kernels; /* activities in one launch */
    int32_t registers, shared_bytes, local_bytes;
    bool stretched; /* recording stretched the span: the times are event pairs */
};

struct device_ops {
    const char *name;
    bool by_name_only; /* "auto" never opens it */
    int (*open)(const struct device_options *options, struct device **device);
    void (*close)(struct device *device);
    void (*describe)(struct device *device, struct device_info *info);

    void *(*alloc)(struct device *device, size_t bytes); /* NULL: no room */
    void (*release)(struct device *device, void *memory);
    int64_t (*free_bytes)(struct device *device); /* -1: not to be known */
    int (*to_host)(struct device *device, void *host, const void *memory, size_t bytes);
    int (*from_host)(struct device *device, void *memory, const void *host, size_t bytes);
    int (*set)(struct device *device, void *memory, uint8_t byte, size_t bytes);
    /* Fill per `fill` (not CUSTOM) with the seed's values; see fill.h. */
    int (*fill)(struct device *device, void *memory, enum assay_type type, int64_t count,
                const struct assay_fill *fill, uint64_t seed);
    /* Order-free checksum of whole 8-byte words (and the tail): equal bytes, equal sum. */
    int (*checksum)(struct device *device, const void *memory, size_t bytes, uint64_t *sum);

    /* Before a group is measured: put stubs into the request, which name the
     * same cases and do the same work by their own words, and whose code runs in
     * the place of the variants'. They live until the next call. NULL: each
     * variant stands for itself. */
    int (*stage)(struct device *device, struct measure_request *request);
    /* The clock that budgets are spent by, in seconds. */
    double (*now_s)(struct device *device);

    void *(*stream)(struct device *device);
    int (*synchronize)(struct device *device); /* reports errors of earlier launches */
    int (*warm_up)(struct device *device);     /* until the clock is steady, bounded */
    /* Take block->count samples; then one by the host's clock, into the totals. */
    int (*sample)(struct device *device, const struct block *block, struct block_sample *out,
                  struct block_totals *totals, struct code_seen *code);
    /* Launch back to back for about `ns`; how many launches, and the joules by the
     * device's counter in *energy_mj (NAN where there is none). */
    int (*energy)(struct device *device, const struct block *block, double ns, int *launches,
                  double *energy_mj);
    void (*state)(struct device *device, struct device_state *state);

    /* Take one launch of the case apart, into a profile that names the counters
     * wanted (profile.h). Counters that are refused cost only themselves; records
     * that were lost leave it without activities. NULL: there
     * is nothing to take apart here. */
    int (*profile)(struct device *device, const struct block *block, struct profile *profile);
};

extern const struct device_ops device_cuda, device_host, device_sim;

/* All devices of this build, NULL-terminated, best first; "auto" takes the first that opens. */
extern const struct device_ops *const device_table[];

/* now_s of a device that is there: the host's monotonic clock. */
double device_wall_s(struct device *device);

/* Open `options->spec`. On failure *ops is NULL and assay_error says why. */
int device_open(const struct device_options *options, const struct device_ops **ops,
                struct device **device);

#endif
