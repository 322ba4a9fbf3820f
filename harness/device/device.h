/*
 * device.h - the interface of a device, as the measuring code uses it.
 *
 * A device is opened in a worker process. device_host.c, device_cuda.c and
 * device_sim.c each fill one struct device_ops; the code above this room does not
 * know which it uses. Functions return 0, or -1 with assay_error, unless stated.
 */
#pragma once

#include "assay.h"
#include "case/result.h"

struct device;          /* defined by each implementation */
struct fingerprint;     /* case/fingerprint.h */
struct measure_request; /* measure_request.h */
struct profile;         /* profile.h */

struct device_options {
    const char *spec;  /* "auto", "host", "cuda:0", "cuda:all", "sim:seed=1" */
    int32_t pick;      /* where the spec names no single GPU: the one of this number, from 1; 0: the
                        * first */
    bool use_events;   /* --clock event: do not load CUPTI */
    bool try_counters; /* test whether hardware counters can be read and, if not, add a line
                        * to device_info.lost. The device cannot be timed with afterwards. */
    int32_t flush;     /* enum cache_flush; -1: the device's default */
    bool trace;        /* what is launched is traced (device_ops.trace); nothing is timed */
};

/* What of a case is traced from here on. */
enum trace_step {
    TRACE_SETUP,
    TRACE_LAUNCH, /* each time it is called another launch begins */
    TRACE_END,
};

/* Whose launch a sample is, where several variants take turns in a block. */
struct block_turn {
    const struct assay_variant *variant;
    struct assay_call *call;
};

/* A request for one block of samples, of one case unless there are turns. */
struct block {
    const struct assay_variant *variant;
    struct assay_call *call;
    enum assay_temperature temperature;
    int count;       /* samples wanted */
    double hold_ns;  /* occupy the stream this long first, so that the host enqueues ahead */
    bool no_warm_up; /* omit the untimed launch before the samples of a hot block */
    /* Sample i is of turn[i], all with the clock of `variant`, which takes the launch that warms
     * up; the totals have no wall time, and code_seen stays as it is. NULL: all are of `variant`.
     */
    const struct block_turn *turn;
    bool by_pairs; /* with turns: time by event pairs, as code_seen.stretched says of one of them */
};

static inline struct block_turn block_turn_of(const struct block *block, int sample)
{
    return block->turn ? block->turn[sample] : (struct block_turn){block->variant, block->call};
}

struct block_sample {
    double time_ns, busy_ns, event_ns; /* NAN where not read */
    uint8_t mark;
};

/* Figures of a block as a whole. */
struct block_totals {
    double wall_ns; /* one launch by the host clock, from the call to the completed
                     * synchronisation; NAN: not measured */
    int launches;   /* launches of the variant, timed or not */
};

/* What the activity records tell about the code that ran in a block. */
struct code_seen {
    char hash[RESULT_MAX_HASH];
    int32_t kernels; /* activities in one launch */
    int32_t registers, shared_bytes, local_bytes;
    bool stretched; /* recording lengthened the span, so the times are those of event pairs */
};

/* What memory still holds of a poison: words of 8 bytes, none of which can be equal to it
 * by chance, and elements, some of which can. */
struct unwritten {
    int64_t words, elements;
    int64_t first; /* number of the first such word; INT64_MAX: none */
};

/* Where two memories differ most within a part of them. */
struct difference {
    int64_t index; /* of the element */
    double by;     /* absolute; INFINITY if one alone is infinite or no number; 0: nowhere */
};

/* open() refuses: there are GPUs, and none for this process. "auto" must not take the host then. */
enum { DEVICE_DENIED = -2 };

struct device_ops {
    const char *name;
    bool by_name_only; /* "auto" does not open it */
    int (*open)(const struct device_options *options, struct device **device);
    void (*close)(struct device *device);
    void (*describe)(struct device *device, struct device_info *info);

    void *(*alloc)(struct device *device, size_t bytes); /* NULL with assay_error: out of memory */
    void (*release)(struct device *device, void *memory);
    int64_t (*free_bytes)(struct device *device); /* -1: unknown */
    int (*to_host)(struct device *device, void *host, const void *memory, size_t bytes);
    int (*from_host)(struct device *device, void *memory, const void *host, size_t bytes);
    int (*set)(struct device *device, void *memory, uint8_t byte, size_t bytes);
    /* Fill with pseudo-random bytes from `seed`, and count what is left (elements.h). */
    int (*poison)(struct device *device, void *memory, size_t bytes, uint64_t seed);
    int (*unwritten)(struct device *device, const void *memory, enum assay_type type, int64_t count,
                     uint64_t seed, struct unwritten *left);
    int (*copy)(struct device *device, void *to, const void *from, size_t bytes);
    /* The largest difference, and of equal ones the first, in each of ASSAY_CHECK_PLACES
     * parts: part i is [i count / places, (i + 1) count / places). */
    int (*differ)(struct device *device, const void *a, const void *b, enum assay_type type,
                  int64_t count, struct difference out[ASSAY_CHECK_PLACES]);
    /* sums[i] = sum over j of sign_of(seed, j) matrix[i][j] (elements.h), in double and in an order
     * that depends on the shape alone. `sums` is in host memory. */
    int (*signed_sums)(struct device *device, const void *matrix, enum assay_type type,
                       int64_t rows, int64_t columns, uint64_t seed, double *sums);
    /* Fill as `fill` says (not ASSAY_FILL_CUSTOM); see fill.h. */
    int (*fill)(struct device *device, void *memory, enum assay_type type, int64_t count,
                const struct assay_fill *fill, uint64_t seed);
    /* Checksum whose terms can be added in any order; equal bytes give equal sums. */
    int (*checksum)(struct device *device, const void *memory, size_t bytes, uint64_t *sum);

    /* Called before a group is measured: may replace the operation and the variants of the
     * request by stubs with the same names and the same declared work. The stubs are valid
     * until the next call. NULL: the variants themselves run. */
    int (*stage)(struct device *device, struct measure_request *request);
    /* The clock for budgets, in seconds. */
    double (*now_s)(struct device *device);

    void *(*stream)(struct device *device);    /* NULL: variants get no stream */
    int (*synchronize)(struct device *device); /* reports errors of earlier launches */
    /* Until its clock rate is steady, or a time limit. NULL: it has none. */
    int (*warm_up)(struct device *device);
    /* Take block->count samples, then one launch by the host clock for the totals. */
    int (*sample)(struct device *device, const struct block *block, struct block_sample *out,
                  struct block_totals *totals, struct code_seen *code);
    /* Launch for at least `ns`, with the caches as the block has them. *energy_mj is the energy of
     * all *launches by the device's counter, without that of flushes; NAN if it cannot be read or
     * is lost in the flushes'. NULL: the device has no such counter. */
    int (*energy)(struct device *device, const struct block *block, double ns, int *launches,
                  double *energy_mj);
    void (*state)(struct device *device, struct device_state *state);

    /* Profile one launch: its activities, and the counters that `profile` names
     * (profile.h). If the counters are refused, the activities are still recorded; if
     * activity records are lost, the profile has none. NULL: not supported. */
    int (*profile)(struct device *device, const struct block *block, struct profile *profile);

    /* Add to the fingerprint what was enqueued since the last step, which is done by then. NULL:
     * the times of the device's variants are made by the host's code, and that is all that counts.
     */
    int (*trace)(struct device *device, enum trace_step step, const struct assay_variant *variant,
                 struct fingerprint *print);
};

extern const struct device_ops device_cuda, device_host, device_sim;

/* Set all figures to unknown. */
void code_seen_clear(struct code_seen *code);

/* now_s of a real device: the host's monotonic clock. */
double device_wall_s(struct device *device);

/* Which of `count` GPUs a spec that names none means: *index, from 0. A process that sees one takes
 * it, whatever its number: launchers show each rank its own. 0, or DEVICE_DENIED with assay_error.
 */
int device_pick(const struct device_options *options, int count, int *index);

/* Which GPUs a spec means: any one ("cuda", "auto", "sim:gpus=4"), the one that it names ("cuda:1",
 * "sim:gpus=4,gpu=1"), or every one ("cuda:all", "sim:gpus=4,gpu=all"). */
enum device_choice { DEVICE_ANY, DEVICE_ONE, DEVICE_ALL };
enum device_choice device_choice(const char *spec);

/* Open `options->spec`. On failure *ops is NULL and assay_error says why. */
int device_open(const struct device_options *options, const struct device_ops **ops,
                struct device **device);
