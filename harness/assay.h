/*
 * assay.h - the contract between a kernel and the harness.
 *
 * This is the only header of the harness that files in kernels/ and
 * baselines/ include. Two things are written against it:
 *
 *   an operation  a mathematical definition: dims, buffers, reference,
 *                 tolerance and the least work it can be done with;
 *   a variant     one implementation of an operation.
 *
 * Each is a constant of static lifetime, announced by one ASSAY_REGISTER_ line
 * at the foot of its file. No list is edited: make compiles every file below
 * kernels/ and baselines/, and the linker gathers what they announce.
 * docs/adding-a-kernel.md walks through a real one.
 *
 * Ownership: the harness allocates, fills, poisons, checks and frees every
 * buffer; a variant borrows them. What setup makes, teardown frees.
 *
 * Errors: a function that can fail returns 0, or -1 through
 * `return assay_error("why")`. Nothing here prints or exits.
 */
#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ASSAY_MAX_DIMS = 12,
    ASSAY_MAX_BUFFERS = 12,
    ASSAY_MAX_METRICS = 16,
    ASSAY_MAX_SPANS = 256,
    ASSAY_MAX_NAME = 48,
    ASSAY_MAX_NOTE = 96,
    ASSAY_MAX_REASON = 256,
    ASSAY_CHECK_PLACES = 256,     /* parts of an output that are checked, at most */
    ASSAY_CHECK_BUDGET = 1 << 25, /* multiply-adds that the reference of an output may cost */
};

/* ------------------------------------------------------------ elements -- */

enum assay_type {
    ASSAY_F32,
    ASSAY_F64,
    ASSAY_F16,
    ASSAY_BF16,
    ASSAY_I8,
    ASSAY_U8,
    ASSAY_I16,
    ASSAY_I32,
    ASSAY_U32,
    ASSAY_I64,
    ASSAY_TYPES, /* how many there are */
};

/* Size of one element, in bytes. */
size_t assay_type_bytes(enum assay_type type);

/* Element `index` of `base` as a double. Exact for every type but I64 beyond 2^53. */
double assay_load(enum assay_type type, const void *base, int64_t index);

/* Store `value` as element `index`: floats round to nearest even, integers
 * truncate and must be in range. */
void assay_store(enum assay_type type, void *base, int64_t index, double value);

/* --------------------------------------------------------------- shapes -- */

/* One named dimension. A size dim counts something; a choice dim picks one of
 * `choices` (a NULL-terminated list) and its value is the index in that list. */
struct assay_dim {
    const char *name;
    const char *summary;        /* with the unit, for `assay list operations` */
    const char *const *choices; /* NULL: a size */
    int64_t fallback;           /* the value when a suite does not say */
    int64_t min, max;           /* a size's range, both included; 0, 0: 1 to 2^40 */
};

struct assay_operation;

/* One instance of an operation's dims; value[i] belongs to operation->dims[i]. */
struct assay_shape {
    const struct assay_operation *operation;
    int64_t value[ASSAY_MAX_DIMS];
};

/* cold: caches do not hold the operands. hot: they do, if they fit. */
enum assay_temperature { ASSAY_COLD, ASSAY_HOT };

/* -------------------------------------------------------------- buffers -- */

enum assay_role { ASSAY_IN, ASSAY_OUT, ASSAY_SCRATCH };

/* How an input is filled: element i is a pure function of (seed, buffer, i), so
 * the host and the GPU make the same bits, in parallel. */
enum assay_fill_kind {
    ASSAY_FILL_UNIFORM, /* a + (b - a) u, u in [0, 1) */
    ASSAY_FILL_NORMAL,  /* mean a, standard deviation b; tails end near 6.9 b */
    ASSAY_FILL_INTEGER, /* whole numbers a to b, both included */
    ASSAY_FILL_CUSTOM,  /* operation->fill writes it on the host */
};

/* One element in `hard_every` (at hashed places) is one of `hard` instead: the
 * values at which implementations differ (ties, saturation, denormals,
 * infinities). `hard_until` keeps them to the first so many elements, which are
 * always checked: values that no real tensor is full of must not be what is
 * timed. */
struct assay_fill {
    enum assay_fill_kind kind;
    double a, b;
    const float *hard;
    int hard_count;
    int hard_every;     /* 0: none */
    int64_t hard_until; /* 0: everywhere */
};

struct assay_buffer {
    const char *name;
    enum assay_role role;
    enum assay_type type;
    int64_t count; /* elements */
    struct assay_fill fill;
};

/* ----------------------------------------------------------------- work -- */

enum assay_arithmetic {
    ASSAY_FP32,
    ASSAY_TF32,
    ASSAY_BF16_OPS,
    ASSAY_FP16_OPS,
    ASSAY_INT8_OPS,
    ASSAY_FP64,
    ASSAY_ARITHMETICS, /* how many there are */
};

/* The least an implementation must do: each input byte read once, each output
 * byte written once, and the operations of the formula (a multiply-add is two). */
struct assay_work {
    double read_bytes;
    double write_bytes;
    double ops[ASSAY_ARITHMETICS];
    /* The bytes cross the host's link: what is written goes to the device, what is
     * read comes from it, and the link's two directions are the limits. Follows
     * from the operation and the shape, so results do not keep it. */
    bool over_link;
};

/* --------------------------------------------------------------- checks -- */

/* What a checked element is. NEAR is a difference that the operation's text
 * allows on a small share of elements (a rounding tie that two right formulas
 * resolve differently). */
enum assay_match { ASSAY_EXACT, ASSAY_NEAR, ASSAY_WRONG };

struct assay_tolerance {
    double abs, rel;   /* |got - expected| <= abs + rel |expected| is EXACT */
    double near_share; /* more NEAR elements than this share, give or take: wrong */
};

/* A figure of quality, beside the time: {"mse", 0.0123}. */
struct assay_metric {
    const char *name;
    double value;
};

/* When a stage of a launch ran, from the launch's begin: {"h2d", 0, 1200, 9800}. A lane
 * is what its stages follow one another in, a stream say; from 0. */
struct assay_span {
    const char *name;
    int lane;
    double begin_ns, end_ns;
};

/* ------------------------------------------------------------ operation -- */

struct assay_operation {
    const char *name;    /* int8_quantize; [a-z0-9_], unique */
    const char *summary; /* one line, the formula */

    struct assay_dim dims[ASSAY_MAX_DIMS]; /* ended by a NULL name, or full */

    /* NULL, or why these dims are impossible for every variant. May be NULL. */
    const char *(*supports)(const struct assay_shape *shape);

    /* Write the buffers of this shape; returns how many. */
    int (*buffers)(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS]);

    /* Only for ASSAY_FILL_CUSTOM: write the whole buffer on the host. */
    int (*fill)(const struct assay_shape *shape, int buffer, uint64_t seed, void *host);

    struct assay_work (*work)(const struct assay_shape *shape);

    /* Elements [begin, end) of output `buffer`, computed in double from the
     * inputs (in[i] is a host copy of buffer i, NULL where i is not an input).
     * bound[j] arrives as NaN; a reference whose error bound differs from
     * element to element writes it there (an absolute bound), otherwise
     * `tolerance` holds. Must be safe to call from several threads.
     * NULL for an operation without output (an empty kernel). */
    int (*reference)(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound);

    /* Cost of one reference element, in multiply-adds; NULL: 1. Where all of an output cost
     * more than ASSAY_CHECK_BUDGET, the harness checks up to ASSAY_CHECK_PLACES parts of it. */
    double (*reference_cost)(const struct assay_shape *shape);

    /* Output elements are checked in runs that start at a multiple of this (a
     * row, say); NULL: 1. */
    int64_t (*reference_run)(const struct assay_shape *shape);

    struct assay_tolerance tolerance;

    /* Judges one element in the place of `tolerance`; may be NULL. `expected`
     * is what `reference` wrote, which may be the value before rounding. */
    enum assay_match (*match)(const struct assay_shape *shape, int buffer, double expected,
                              double got);

    /* Figures of quality from host copies of every buffer; returns how many it
     * wrote. May be NULL. Untimed; not of variants that compute something else. */
    int (*quality)(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS]);

    /* Names of variants a ratio is taken against, best choice first, ended by
     * NULL. The first that is in the group and ok is the group's baseline. */
    const char *const *baselines;

    /* For operations that measure the machine: the ceiling that this shape and
     * temperature measure ("memory_copy"), or NULL. May itself be NULL. */
    const char *(*ceiling)(const struct assay_shape *shape, enum assay_temperature temperature);
};

/* -------------------------------------------------------------- variant -- */

enum assay_kind { ASSAY_KERNEL, ASSAY_BASELINE, ASSAY_REFERENCE };
enum assay_place { ASSAY_HOST, ASSAY_CUDA };

/* DEVICE: launch only enqueues. WALL: launch blocks the host by design
 * (synchronises, allocates, copies pageable memory); timed by the host clock
 * from the call to the completed synchronisation. */
enum assay_clock { ASSAY_CLOCK_DEVICE, ASSAY_CLOCK_WALL };

/* What setup returns, after assay_error with the reason, where this machine lacks what
 * the variant needs (a second GPU, memory): the case is skipped. What the shape alone
 * decides belongs to `supports`. */
enum { ASSAY_SKIP = 1 };

/* What a variant is called with. */
struct assay_call {
    const struct assay_shape *shape;
    void *buffer[ASSAY_MAX_BUFFERS]; /* device memory on cuda; 256-byte aligned */
    void *state;                     /* setup's own */
    void *stream;                    /* a cudaStream_t; NULL on the host */
    int64_t workspace_bytes;         /* setup adds what it allocates */
    char note[ASSAY_MAX_NOTE];       /* setup may say what it chose (an algorithm id) */
};

struct assay_variant {
    const char *operation;
    const char *name; /* unique within the operation and place */
    const char *summary;
    enum assay_kind kind;
    enum assay_place place;
    enum assay_clock clock;
    int min_sm; /* compute capability x 10; 0: any */
    int max_sm; /* where its instructions are one generation's alone; 0: any */

    /* True for a bound that moves the same bytes but computes something else (a
     * copy). It is then judged by `model` or `check` alone, never skipped. */
    bool apart;

    /* NULL, or why this shape is skipped. May be NULL. */
    const char *(*supports)(const struct assay_shape *shape);

    int (*setup)(struct assay_call *call);  /* untimed; may be NULL; 0, -1 or ASSAY_SKIP */
    int (*launch)(struct assay_call *call); /* timed: only enqueues on call->stream */
    /* Frees what setup made; called once after setup, also after one that failed. */
    void (*teardown)(struct assay_call *call);

    /* The exact bits of output elements [begin, end), written to `out` as the
     * buffer's type: a host model of this variant's own order of operations.
     * Checked beside the reference. May be NULL. */
    int (*model)(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
                 int64_t end, void *out);

    /* For results that are not in the operation's buffers: check them, poison
     * them again, and return 0 or assay_error("what is wrong"). May copy them to the
     * operation's buffers instead, which are judged once the device is idle. May be NULL. */
    int (*check)(struct assay_call *call);

    /* Figures of this variant's own, beside the operation's `quality` (the times of
     * its stages, say): asked for once, after the last sample, and free to launch.
     * Returns how many it wrote, at most `max`, or -1. May be NULL. Untimed. */
    int (*figures)(struct assay_call *call, struct assay_metric *out, int max);

    /* When the stages of one launch ran, those of its first batches where there are more
     * than `max`; asked for behind `figures`, on the same terms. May be NULL. */
    int (*spans)(struct assay_call *call, struct assay_span *out, int max);
};

/* --------------------------------------------------------------- errors -- */

/* Record why the current call failed; returns -1, so `return assay_error(...)`. */
int assay_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------ libraries -- */

/* A vendor library that variants call, for the provenance of a launch. */
struct assay_library {
    enum assay_place place;
    /* Load it where it is not yet, as its variants do. */
    int (*load)(void);
    /* Name and version as text; false while it is not loaded. Loads nothing. */
    bool (*version)(char *out, size_t size);
};

/* --------------------------------------------------------- registration -- */

/* The linker gathers these pointers in one section; harness/registry.c reads
 * it. Objects are linked directly, never from an archive, so none is dropped. */
#define ASSAY_REGISTER_OPERATION(object)                                                           \
    static const struct assay_operation *const assay_entry_##object                                \
        __attribute__((used, section("assay_operations"))) = &object
#define ASSAY_REGISTER_VARIANT(object)                                                             \
    static const struct assay_variant *const assay_entry_##object                                  \
        __attribute__((used, section("assay_variants"))) = &object
#define ASSAY_REGISTER_LIBRARY(object)                                                             \
    static const struct assay_library *const assay_entry_##object                                  \
        __attribute__((used, section("assay_libraries"))) = &object

#ifdef __cplusplus
}
#endif

/* ---------------------------------------------------------- for .cu files */

#ifdef __CUDACC__
/* 0, or the CUDA error's own words as an assay_error. */
static inline int assay_cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return 0;
    return assay_error("%s: %s", what, cudaGetErrorString(error));
}

/* Ends every launch function: `return assay_launched();`. */
static inline int assay_launched(void)
{
    return assay_cuda(cudaGetLastError(), "launch");
}
#endif

#endif
