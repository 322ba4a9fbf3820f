/*
 * assay.h - the contract between a kernel and the harness.
 *
 * This is the only header of the harness that files in kernels/ and
 * baselines/ include. Two things are written against it:
 *
 *   an operation  a mathematical definition: dims, buffers, reference,
 *                 tolerance and the minimum work it takes;
 *   a variant     one implementation of an operation.
 *
 * Each is a constant of static lifetime, registered by one ASSAY_REGISTER_ line
 * at the end of its file. No list is edited: make compiles every file below
 * kernels/ and baselines/, and the linker gathers the registered constants.
 * docs/adding-a-kernel.md walks through a real one. The same file, compiled into a
 * shared object, is measured with `assay run --load` (docs/your-own-kernel.md).
 *
 * Ownership: the harness allocates, fills, poisons, checks and frees every
 * buffer; a variant borrows them. What setup allocates, teardown frees.
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
    ASSAY_E4M3,  /* 8-bit floats of the OCP (OFP8): 448 is the largest, no infinity */
    ASSAY_E5M2,  /* 57344 is the largest */
    ASSAY_TYPES, /* how many there are */
};

/* Size of one element, in bytes. */
size_t assay_type_bytes(enum assay_type type);

/* Element `index` of `base` as a double. Exact for every type but I64 beyond 2^53. */
double assay_load(enum assay_type type, const void *base, int64_t index);

/* Store `value` as element `index`: floats round to nearest even, integers
 * truncate and must be in range. The 8-bit floats saturate: what is beyond the largest
 * number, infinities too, becomes it. NaN stays NaN. */
void assay_store(enum assay_type type, void *base, int64_t index, double value);

/* --------------------------------------------------------------- shapes -- */

/* One named dimension (dim). The value of a size dim is a count; the value of a choice
 * dim is an index into `choices`, a NULL-terminated list. */
struct assay_dim {
    const char *name;
    const char *summary;        /* with the unit, for `assay list operations` */
    const char *const *choices; /* NULL: a size */
    int64_t fallback;           /* the value when a suite gives none */
    int64_t min, max;           /* range of a size, both included; 0, 0: 1 to 2^40 */
};

struct assay_operation;

/* One instance of an operation's dims; value[i] belongs to operation->dims[i]. */
struct assay_shape {
    const struct assay_operation *operation;
    int64_t value[ASSAY_MAX_DIMS];
};

/* Whether the caches hold the operands when a launch starts. cold: they do not. hot: they
 * do, if the operands fit. */
enum assay_temperature { ASSAY_COLD, ASSAY_HOT };

/* -------------------------------------------------------------- buffers -- */

enum assay_role { ASSAY_IN, ASSAY_OUT, ASSAY_SCRATCH };

/* How an input is filled: element i is a pure function of (seed, buffer, i), so the
 * host and the GPU generate the same bits, in parallel. */
enum assay_fill_kind {
    ASSAY_FILL_UNIFORM, /* a + (b - a) u, u in [0, 1) */
    ASSAY_FILL_NORMAL,  /* mean a, standard deviation b; tails end near 6.9 b */
    ASSAY_FILL_INTEGER, /* whole numbers a to b, both included */
    ASSAY_FILL_CUSTOM,  /* operation->fill writes it on the host */
};

/* One element in `hard_every`, at pseudo-random places, is replaced by one of `hard`: the
 * values on which implementations differ (ties, saturation, denormals, infinities).
 * `hard_until` limits them to the first elements, which are always checked: a real tensor
 * is not full of such values, so they must not dominate the timed data. */
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
    /* An input that keeps its values from setup to teardown, such as weights: setup may
     * prepare it. Other inputs may be drawn anew, in place, before any launch. */
    bool constant;
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

/* The minimum that every implementation must do: read each input byte once, write each
 * output byte once, and the operations of the formula (a multiply-add counts as two). */
struct assay_work {
    double read_bytes;
    double write_bytes;
    double ops[ASSAY_ARITHMETICS];
    /* The bytes cross the link between host and device (PCIe, NVLink-C2C): write_bytes
     * go to the device, read_bytes come from it, and the two directions of the link are
     * the limits. Follows from operation and shape, so results do not store it. */
    bool over_link;
};

/* --------------------------------------------------------------- checks -- */

/* The result of checking one element. NEAR is a difference that the operation allows on
 * a share of elements, such as a rounding tie that two correct formulas resolve
 * differently. Where there is a near_share and no `match`, so is a float of 16 or 8 bits
 * within its bound that is not the nearest to what is expected. */
enum assay_match { ASSAY_EXACT, ASSAY_NEAR, ASSAY_WRONG };

struct assay_tolerance {
    double abs, rel;   /* |got - expected| <= abs + rel |expected| is EXACT */
    double near_share; /* wrong if more than this share is NEAR (plus 3 sigma of chance) */
};

/* A quality metric, reported beside the time: {"mse", 0.0123}. */
struct assay_metric {
    const char *name;
    double value;
};

/* When one stage of a launch ran, relative to the start of the launch: {"h2d", 0, 1200,
 * 9800}. Stages of one lane (a stream, say) follow one another; lanes count from 0. */
struct assay_span {
    const char *name;
    int lane;
    double begin_ns, end_ns;
};

/* ----------------------------------------------------------------- card -- */

/* What the GPU offers to the code of this program. A variant asks this and never the device: what a
 * kernel may do depends on the code that was built as much as on the card, and `--device
 * cuda:0,sm=80,shared=163Ki` shows less than the card has, so that one card tries the code of
 * another. Valid in setup and launch; all 0 where no GPU is open. */
struct assay_card {
    int sm; /* compute capability x 10 of the machine code or PTX that the driver took */
    bool arch_specific; /* that code is for sm_90a: wgmma, setmaxnreg */
    int multiprocessors;
    int64_t shared_bytes;    /* shared memory, the most that a block can have */
    int64_t shared_sm_bytes; /* of a multiprocessor */
    int64_t l2_bytes;
};
const struct assay_card *assay_card(void);

/* ------------------------------------------------------------ operation -- */

struct assay_operation {
    const char *name;    /* int8_quantize; [a-z0-9_], unique */
    const char *summary; /* one line, the formula */

    struct assay_dim dims[ASSAY_MAX_DIMS]; /* ended by a NULL name unless full */

    /* Returns NULL, or why no variant can run this shape. May be NULL. */
    const char *(*supports)(const struct assay_shape *shape);

    /* Write the buffers of this shape to `out`; returns how many. */
    int (*buffers)(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS]);

    /* Only for ASSAY_FILL_CUSTOM: write the whole buffer on the host. */
    int (*fill)(const struct assay_shape *shape, int buffer, uint64_t seed, void *host);

    struct assay_work (*work)(const struct assay_shape *shape);

    /* Compute elements [begin, end) of output `buffer` in double from the inputs
     * (in[i] is a host copy of buffer i, NULL where i is not an input) and write them
     * to expected[0 ... end - begin). bound[] arrives as NaN; a reference whose error
     * bound differs per element writes the absolute bound there, otherwise `tolerance`
     * holds. Must be safe to call from several threads.
     * NULL for an operation without output (an empty kernel). */
    int (*reference)(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound);

    /* Cost of one element of the reference, in multiply-adds; NULL: 1. Where all of an output cost
     * more than ASSAY_CHECK_BUDGET, the harness checks up to ASSAY_CHECK_PLACES parts of it. */
    double (*reference_cost)(const struct assay_shape *shape);

    /* The reference is asked for ranges that begin at a multiple of this many elements
     * (a row, say); NULL: 1. */
    int64_t (*reference_run)(const struct assay_shape *shape);

    /* Freivalds' check of outputs that are products: an output is a matrix with
     * `product_columns` columns (0: this output is none), and for all of its rows i
     * `product_check` writes expected[i] = sum over j of sign[j] out[i][j] of the exact
     * output, computed from the inputs without the output, and in bound[i] how far the
     * sum over a correct output may be from it. sign[j] is 1 or -1. Covers every element
     * where `reference` covers a sample. Both NULL: none. (Freivalds, Probabilistic
     * machines can use less running time, 1977.) */
    int64_t (*product_columns)(const struct assay_shape *shape, int buffer);
    int (*product_check)(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound);

    struct assay_tolerance tolerance;

    /* Judges one element instead of `tolerance`; may be NULL. `expected` is what
     * `reference` wrote, which may be the value before rounding. */
    enum assay_match (*match)(const struct assay_shape *shape, int buffer, double expected,
                              double got);

    /* The most that the root mean square of (got - expected) / bound may be, over the elements that
     * are checked: finds what shifts many elements by less than the bound of one. Plus chance:
     * 4 / sqrt(elements) of it. May be NULL; returns 0 for a shape that is not judged so. */
    double (*rms)(const struct assay_shape *shape);

    /* Quality metrics from host copies of the inputs and outputs; returns how many it
     * wrote. May be NULL. Untimed; not called for variants marked `apart`. */
    int (*quality)(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS]);

    /* Names of variants that speed-ups are taken against, preferred first, ended by
     * NULL. The first that is in the group and ok, and no bound, is the group's baseline; bounds
     * are taken where nothing else can be. */
    const char *const *baselines;

    /* For operations that measure a limit of the machine: the name of the ceiling that
     * this shape and temperature measure ("memory_copy"), or NULL. May itself be NULL. */
    const char *(*ceiling)(const struct assay_shape *shape, enum assay_temperature temperature);

    /* Names of the choice dims that say what data goes in, blanks between them: cases on different
     * data answer different questions, and their quality is not compared. NULL: none. */
    const char *data_dims;

    /* Since 1.2. Operations in FP8 (e4m3 and e5m2, sums in fp32), for which struct assay_work,
     * which has a fixed size, has no place. NULL: none. */
    double (*fp8_ops)(const struct assay_shape *shape);
};

/* -------------------------------------------------------------- variant -- */

/* BASELINE: a competitor, which a user would take instead. BOUND: a copy or another limit, which
 * computes something else; it is `apart`. REFERENCE: the definition, written plainly. */
enum assay_kind { ASSAY_KERNEL, ASSAY_BASELINE, ASSAY_BOUND, ASSAY_REFERENCE };
enum assay_place { ASSAY_HOST, ASSAY_CUDA };

/* DEVICE: launch only enqueues and is timed by the device clock. WALL: launch blocks the
 * host by design (synchronises, allocates, copies pageable memory) and is timed by the
 * host clock, from the call to the completed synchronisation. */
enum assay_clock { ASSAY_CLOCK_DEVICE, ASSAY_CLOCK_WALL };

/* setup returns this, after assay_error with the reason, if the machine lacks something
 * the variant needs (a second GPU, memory): the case is then skipped. What the shape
 * alone decides belongs in `supports`. */
enum { ASSAY_SKIP = 1 };

struct assay_variant;

/* The argument of a variant's functions. */
struct assay_call {
    const struct assay_shape *shape;
    void *buffer[ASSAY_MAX_BUFFERS];    /* device memory on cuda; 256-byte aligned */
    void *state;                        /* for setup to set; the harness does not read it */
    void *stream;                       /* a cudaStream_t; NULL on the host */
    int64_t workspace_bytes;            /* setup adds the bytes it allocates */
    char note[ASSAY_MAX_NOTE];          /* setup may write what it chose (an algorithm id) */
    enum assay_temperature temperature; /* of the launches that will be timed */
    /* Whose call this is: one function may serve several variants. */
    const struct assay_variant *variant;
};

struct assay_variant {
    const char *operation;
    const char *name; /* unique within the operation and place */
    const char *summary;
    enum assay_kind kind;
    enum assay_place place;
    enum assay_clock clock;
    int min_sm;         /* lowest compute capability x 10; 0: any */
    int max_sm;         /* highest, for instructions that only one generation has; 0: any */
    bool arch_specific; /* needs code for sm_90a: wgmma, setmaxnreg; there a block has 227 KiB */

    /* True for a variant that does not compute the operation's result, such as a copy of
     * the same bytes that shows the bandwidth limit. Its output is not compared with the
     * reference; only `model` and `check` judge it. */
    bool apart;

    /* Returns NULL, or why this shape is skipped. May be NULL. */
    const char *(*supports)(const struct assay_shape *shape);

    /* Shared memory per block, in bytes, without which the variant cannot run a shape that
     * `supports` takes. Where the card has less, the case is skipped. NULL: at most 48 KiB, which
     * every card has. */
    int64_t (*shared_bytes)(const struct assay_shape *shape);

    /* Untimed; may be NULL; 0, -1 or ASSAY_SKIP. May be called again after teardown, with other
     * buffers. */
    int (*setup)(struct assay_call *call);
    /* Timed: only enqueues on call->stream. Each launch computes all outputs from the inputs as
     * they are then; outputs and scratch buffers hold arbitrary bytes before it. */
    int (*launch)(struct assay_call *call);
    /* Frees what setup allocated; called once after setup, even if setup failed. */
    void (*teardown)(struct assay_call *call);

    /* Write the exact bits of output elements [begin, end) to `out`, in the buffer's
     * type: a host model with this variant's order of operations. Checked in addition
     * to the reference. May be NULL. */
    int (*model)(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
                 int64_t end, void *out);

    /* For results that are not in the operation's buffers: check them, poison them
     * again, and return 0 or assay_error("what is wrong"). May instead copy them to the
     * operation's buffers, which are checked when the device is idle. Called once over poisoned
     * outputs with no launch since the last check: the check must then fail. May be NULL. */
    int (*check)(struct assay_call *call);

    /* Metrics of this variant in addition to the operation's `quality`, such as the times
     * of its stages. Called once, after the last sample; may launch kernels. Returns how
     * many it wrote, at most `max`, or -1. May be NULL. Untimed. */
    int (*figures)(struct assay_call *call, struct assay_metric *out, int max);

    /* When the stages of one launch ran; only those of the first batches if there are
     * more than `max`. Called after `figures`, under the same conditions. May be NULL. */
    int (*spans)(struct assay_call *call, struct assay_span *out, int max);
};

/* --------------------------------------------------------------- errors -- */

/* Record why the current call failed, per thread; always returns -1, so that a function
 * can end with `return assay_error(...)`. */
int assay_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------ libraries -- */

/* A vendor library that variants call; its version is recorded with each launch. */
struct assay_library {
    enum assay_place place;
    /* Load it unless it is loaded. 0, or -1 with assay_error. */
    int (*load)(void);
    /* Write name and version; false while it is not loaded. Loads nothing. */
    bool (*version)(char *out, size_t size);
};

/* --------------------------------------------------------- registration -- */

/* The linker gathers these pointers in one section of the program, which
 * harness/case/registry.c reads, or of a shared object, which assay_object() tells.
 * Objects are linked directly, never from an archive, so none is dropped. */
#define ASSAY_REGISTER_OPERATION(object)                                                           \
    static const struct assay_operation *const assay_entry_##object                                \
        __attribute__((used, section("assay_operations"))) = &object
#define ASSAY_REGISTER_VARIANT(object)                                                             \
    static const struct assay_variant *const assay_entry_##object                                  \
        __attribute__((used, section("assay_variants"))) = &object
#define ASSAY_REGISTER_LIBRARY(object)                                                             \
    static const struct assay_library *const assay_entry_##object                                  \
        __attribute__((used, section("assay_libraries"))) = &object

/* ------------------------------------------------------- shared objects -- */

/* The version of this contract between a program and shared objects that were compiled apart from
 * it. Within a major version nothing changes on which an object relies; a minor version adds:
 * fields at the end of operation, variant, library, call and object, and values at the end of
 * enumerations that count nothing. A program loads objects of its own major version, and of its
 * minor version or an older one. */
enum { ASSAY_ABI_MAJOR = 1, ASSAY_ABI_MINOR = 2 };

/* The sizes of what may not grow within a major version, as one number. */
enum {
    ASSAY_FIXED_BYTES = (int)(2 * sizeof(struct assay_dim) + 3 * sizeof(struct assay_shape) +
                              5 * sizeof(struct assay_buffer) + 7 * sizeof(struct assay_fill) +
                              11 * sizeof(struct assay_work) + 13 * sizeof(struct assay_tolerance) +
                              17 * sizeof(struct assay_metric) + 19 * sizeof(struct assay_span) +
                              23 * sizeof(struct assay_card))
};

/* What an object brings. The sizes are those of its compilation: a program of a later minor
 * version reads no more than that of each struct, and takes what is missing as 0. All pointers
 * stay valid as long as the object is loaded. */
struct assay_object {
    int32_t abi_major, abi_minor;
    int32_t object_bytes, operation_bytes, variant_bytes, library_bytes;
    int32_t fixed_bytes; /* ASSAY_FIXED_BYTES */
    int32_t operation_count, variant_count, library_count;
    const char *commit; /* of its sources, or NULL */
    const struct assay_operation *const *operations;
    const struct assay_variant *const *variants;
    const struct assay_library *const *libraries;
};

/* The one function that a shared object exports. */
const struct assay_object *assay_object(void);

/* Position-independent code that is for no program (-fPIC) is for a shared object: there the
 * function comes by itself, once however many files define it. Compile with
 * -DASSAY_OBJECT_COMMIT='"..."' to say which sources it was made of. */
#if defined(__PIC__) && !defined(__PIE__) && !defined(ASSAY_NO_OBJECT)
#ifndef ASSAY_OBJECT_COMMIT
#define ASSAY_OBJECT_COMMIT NULL
#endif
#define ASSAY_OWN __attribute__((weak, visibility("hidden")))
extern const struct assay_operation *const __start_assay_operations[] ASSAY_OWN;
extern const struct assay_operation *const __stop_assay_operations[] ASSAY_OWN;
extern const struct assay_variant *const __start_assay_variants[] ASSAY_OWN;
extern const struct assay_variant *const __stop_assay_variants[] ASSAY_OWN;
extern const struct assay_library *const __start_assay_libraries[] ASSAY_OWN;
extern const struct assay_library *const __stop_assay_libraries[] ASSAY_OWN;
#undef ASSAY_OWN

__attribute__((weak, visibility("default"))) const struct assay_object *assay_object(void)
{
    static struct assay_object self;
    self.abi_major = ASSAY_ABI_MAJOR;
    self.abi_minor = ASSAY_ABI_MINOR;
    self.object_bytes = (int32_t)sizeof self;
    self.operation_bytes = (int32_t)sizeof(struct assay_operation);
    self.variant_bytes = (int32_t)sizeof(struct assay_variant);
    self.library_bytes = (int32_t)sizeof(struct assay_library);
    self.fixed_bytes = ASSAY_FIXED_BYTES;
    self.commit = ASSAY_OBJECT_COMMIT;
    self.operations = __start_assay_operations;
    self.operation_count = (int32_t)(__stop_assay_operations - __start_assay_operations);
    self.variants = __start_assay_variants;
    self.variant_count = (int32_t)(__stop_assay_variants - __start_assay_variants);
    self.libraries = __start_assay_libraries;
    self.library_count = (int32_t)(__stop_assay_libraries - __start_assay_libraries);
    return &self;
}
#endif

#ifdef __cplusplus
}
#endif

/* ---------------------------------------------------------- for .cu files */

#ifdef __CUDACC__
/* 0, or -1 with assay_error("WHAT: the CUDA error's text"). */
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
