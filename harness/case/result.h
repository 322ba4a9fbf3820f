/*
 * result.h - the results that go from worker to runner to store to report.
 *
 * Plain data without pointers, except for the sample arrays. A figure that was not
 * measured is NAN (a double) or -1 (a count), never 0.
 */
#pragma once

#include "assay.h"
#include "base/text.h"
#include "case/work.h"

enum {
    RESULT_MAX_SHAPE = 256,
    RESULT_MAX_PROPERTY = 128,
    RESULT_MAX_HASH = 33,
    RESULT_MAX_SPEC = 256,
    RESULT_MAX_STAGE = 16,
};

/* The outcome of a case. Only the first two show a time (status_has_time). */
enum case_status {
    STATUS_OK,
    STATUS_UNCHECKED, /* ran and was timed; nothing says whether the answer is right */
    STATUS_SKIPPED,   /* the reason says why */
    STATUS_WRONG,     /* the answer failed its check */
    STATUS_UNSTABLE,  /* more than half of its samples were marked */
    STATUS_CRASHED,   /* the process died, or the variant returned an error */
    STATUS_TIMEOUT,
    STATUSES,
};

static inline bool status_has_time(int status)
{
    return status == STATUS_OK || status == STATUS_UNCHECKED;
}

/* Which clock measured the time of a case. */
enum clock_source {
    CLOCK_CUPTI, /* kernel timestamps of the hardware */
    CLOCK_EVENT, /* a CUDA event pair; includes the event floor */
    CLOCK_HOST,  /* the host's monotonic clock */
    CLOCK_SIM,   /* simulated */
    CLOCKS,
};

/* How the caches are cleared before a cold sample. */
enum cache_flush {
    FLUSH_READ,  /* by reading a buffer larger than the cache: leaves clean lines */
    FLUSH_WRITE, /* by writing it: leaves dirty lines, which the measured code must evict */
    FLUSH_LINES, /* by evicting the cache lines of the operands (device_host.c) */
    FLUSHES,
};

/* Sample marks, one bit each. A marked sample is stored but left out of the median. */
enum sample_mark {
    MARK_THROTTLED = 1,  /* a hardware slow-down was reported during its block */
    MARK_INCOMPLETE = 2, /* the clock's records of this sample were lost */
};

/* When a stage of one launch ran, relative to its start (struct assay_span). */
struct stage_span {
    char name[RESULT_MAX_STAGE];
    int32_t lane;
    double begin_ns, end_ns;
};

/* Every sample of a case, in the order taken. Arrays have `count` elements; those of a
 * clock that was not read are NULL. Owned by the struct: samples_release. */
struct samples {
    int count;
    float *time_ns;  /* by the clock of the case */
    float *busy_ns;  /* sum over kernels, where the time spans several */
    float *event_ns; /* CUDA event pair */
    uint16_t *round; /* which round of the group */
    uint8_t *mark;   /* sample_mark bits */
    int wall_count;  /* host clock, call to completed synchronisation: one per round */
    float *wall_ns;
    uint16_t *wall_round;
    int span_count; /* stages of one further launch, which is not timed */
    struct stage_span *span;
};

/* What a GPU says of its own health, from NVML; -1 where not readable. */
struct card_health {
    int32_t link_width, link_width_max; /* lanes of PCIe: now, and the most here */
    int32_t link_generation, link_generation_max;
    int64_t ecc_uncorrected; /* memory errors since the driver was loaded */
};

/* State of the device before or after a block, from NVML. NAN where not readable. */
struct device_state {
    double sm_mhz, memory_mhz;
    double temperature_c;
    double power_w;
    double energy_mj;                  /* a running counter */
    uint64_t clock_reasons;            /* NVML's clock event reasons; 0: none, or not readable */
    int32_t other_processes;           /* on the GPU, but this one; -1 not read, or not readable */
    char library[RESULT_MAX_PROPERTY]; /* vendor libraries loaded so far; "" none */
    struct card_health health;         /* when the parent asks, not in each block */
};

struct case_id {
    char operation[ASSAY_MAX_NAME];
    char variant[ASSAY_MAX_NAME];
    char shape[RESULT_MAX_SHAPE]; /* every dim, in order: "n=5000000 input=fp32" */
    int32_t kind;                 /* enum assay_kind */
    int32_t place;                /* enum assay_place of the variant */
    int32_t temperature;          /* enum assay_temperature */
};

struct metric {
    char name[ASSAY_MAX_NAME];
    double value;
};

struct case_result {
    struct case_id id;
    int32_t status; /* enum case_status */
    char reason[ASSAY_MAX_REASON];
    char note[ASSAY_MAX_NOTE]; /* what setup chose */
    int32_t clock;             /* enum clock_source */
    bool is_baseline;          /* the baseline of its group's speed-ups */

    double time_ns, lo_ns, hi_ns; /* median and its 95 % confidence interval, unmarked samples */
    double busy_ns;               /* median; differs from time_ns if there are several kernels */
    double event_ns, wall_ns;     /* medians */
    double first_call_ns;         /* setup and the first launch, to completion, host clock */

    struct case_work work;
    int64_t workspace_bytes;
    int32_t kernels;        /* device activities in one launch; -1 unknown */
    double energy_mj;       /* per launch */
    double power_w;         /* mean over the case's blocks */
    double sm_mhz;          /* mean over the case's blocks */
    double temperature_c;   /* highest over the case's blocks */
    uint64_t clock_reasons; /* bitwise or of all that were seen */

    int64_t outputs; /* elements that the case writes */
    int64_t checked; /* how many of them each check compares with the reference */
    double max_abs_error, max_rel_error, near_share;
    int32_t metric_count;
    struct metric metrics[ASSAY_MAX_METRICS];

    char code_hash[RESULT_MAX_HASH]; /* hash of the machine code that ran; "" unknown */
    int32_t registers;               /* per thread, of the longest kernel; -1 unknown */
    int32_t shared_bytes;            /* per block, static and dynamic */
    int32_t local_bytes;             /* per thread: spills and stack */

    struct samples samples;
};

/* Description of a device by the worker that opened it. */
struct device_info {
    int32_t place; /* enum assay_place */
    bool simulated;
    bool simulates_counters;        /* it has profiles though it is simulated; not stored */
    char spec[RESULT_MAX_SPEC];     /* what --device takes: cuda:0, host, sim:seed=1 */
    char name[RESULT_MAX_PROPERTY]; /* "NVIDIA H200" */
    char uuid[RESULT_MAX_PROPERTY];
    char vbios[RESULT_MAX_PROPERTY];
    char driver[RESULT_MAX_PROPERTY];  /* "580.159.04"; the kernel's release on the host */
    char runtime[RESULT_MAX_PROPERTY]; /* CUDA runtime, "13.0" */
    char library[RESULT_MAX_PROPERTY]; /* cuBLAS or OpenBLAS as used; "" none */
    char lost[4 * ASSAY_MAX_REASON];   /* what cannot be measured and why, one line each */
    int32_t compute_capability;        /* x 10; 0 on the host */
    int32_t multiprocessors;           /* on the host: cores */
    int64_t l1_bytes;                  /* per multiprocessor or core */
    int64_t cache_bytes;               /* L2; on the host: the last-level cache */
    int64_t memory_bytes;
    double sm_mhz_max, memory_mhz_max;
    double power_limit_w;
    int32_t ecc, mig;       /* 1 on, 0 off, -1 unknown */
    int32_t clock;          /* enum clock_source that times device variants */
    int32_t flush;          /* enum cache_flush of cold samples */
    double event_floor_ns;  /* time of an event pair around an empty kernel; NAN unknown */
    double kernel_floor_ns; /* time of the empty kernel itself, by CLOCK_CUPTI */
    double clock_step_ns;   /* observed resolution of the clock */
    double step_limit_s;    /* timeout of a step on this device; 0: only the suite's */
    int32_t peers;          /* GPUs that its process sees, itself included; not stored */
    struct assay_card card; /* what it offers to kernels; for the plan, not stored */
};

/* Empty result: strings "", figures NAN or -1, no samples, clock -1; the status is crashed
 * until it is set, so that an unfinished result never passes for a good one. */
void result_init(struct case_result *result);
void samples_release(struct samples *samples);
/* There is room for ASSAY_MAX_METRICS. */
void result_add_metric(struct case_result *result, const char *name, double value);
void device_state_init(struct device_state *state); /* nothing known */
void device_info_init(struct device_info *info);    /* the same: figures NAN, -1 or 0, texts "" */

/* The farther end of a 95 % interval from its median, as a fraction of the median; NAN: unknown. */
double interval_spread(double time_ns, double lo_ns, double hi_ns);

/* A time that is known to no better than this is noisy, where the user says nothing else: the
 * smallest change that a comparison counts where clocks are not steady. */
#define NOISY_SPREAD 0.05

/* Whether the time of a case is noisy. One without a time, or without an interval, is not. */
bool result_is_noisy(const struct case_result *result, double most_spread);

/* The arrays of struct samples, by the names that they have in the store. */
struct sample_series {
    const char *name;
    size_t at, element_bytes; /* offset in struct samples */
    bool is_wall;             /* of wall_count elements, the others of count */
};
enum { SAMPLE_SERIES = 7 };
extern const struct sample_series sample_series[SAMPLE_SERIES];

static inline void **series_array(struct samples *samples, const struct sample_series *series)
{
    return (void **)((char *)samples + series->at);
}

/* The words of tables, the store and JSON, and back (words_name, words_find in text.h). */
extern const struct words status_words, clock_words, flush_words, kind_words, place_words,
    temperature_words, role_words, type_words, arithmetic_words;
#define status_name(status)           words_name(&status_words, (int)(status))
#define clock_name(clock)             words_name(&clock_words, (int)(clock))
#define flush_name(flush)             words_name(&flush_words, (int)(flush))
#define kind_name(kind)               words_name(&kind_words, (int)(kind))
#define place_name(place)             words_name(&place_words, (int)(place))
#define temperature_name(temperature) words_name(&temperature_words, (int)(temperature))
#define role_name(role)               words_name(&role_words, (int)(role))
#define type_name(type)               words_name(&type_words, (int)(type))
#define arithmetic_name(arithmetic)   words_name(&arithmetic_words, (int)(arithmetic))
#define status_parse(word)            words_find(&status_words, word)
#define flush_parse(word)             words_find(&flush_words, word)
#define kind_parse(word)              words_find(&kind_words, word)
#define place_parse(word)             words_find(&place_words, word)
#define temperature_parse(word)       words_find(&temperature_words, word)
