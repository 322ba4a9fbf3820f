/*
 * verify.h - checks the outputs of a variant.
 *
 * There is one verifier per group. It holds host copies of the inputs and the expected
 * values, computed once in double and shared by all variants. Small outputs are compared
 * completely; of larger ones, chunks spread over the whole output at places that follow from
 * the seed, which always include the first and the last elements. What these chunks miss is left
 * to buffers.h, the sums of expected.h, and witness.h.
 */
#pragma once

#include "measure/buffers.h"
#include "measure/tally.h"

/* Elements [begin, end) of one output buffer. */
struct chunk {
    int buffer;
    int64_t begin, end;
    int64_t at;           /* index of the first one's expected value in the verifier's arrays */
    size_t offset, bytes; /* of the elements, in their type, among those of all chunks */
};

struct verifier {
    const struct buffers *buffers;
    const void *input[ASSAY_MAX_BUFFERS]; /* host copies; NULL where not an input */
    int chunk_count;
    struct chunk *chunks;
    double *expected;
    double *bound;            /* absolute; NAN where the operation's tolerance or match applies */
    int64_t outputs, checked; /* number of output elements, and how many are checked */
    int64_t piece;            /* elements computed by one thread at a time: whole runs */
    size_t bytes;             /* of all chunks */
    void *got;                /* one chunk of an output, copied from the device */
    struct model *models;     /* what models of variants computed (expected.c) */
    struct product *products; /* expected.h; one per buffer, or NULL */
};

/* The result of a check. `reason` is "" when it passed. */
struct check_result {
    int64_t near, wrong;
    struct tally_values near_values;
    double max_abs_error, max_rel_error, near_share;
    double rms; /* of errors, as shares of their bounds */
    char reason[ASSAY_MAX_REASON];
};

/* Copy the inputs and compute the expected values. */
int verifier_init(struct verifier *verifier, const struct buffers *buffers);

/* The same for inputs that were drawn anew; only those are copied again. */
int verifier_renew(struct verifier *verifier, const struct buffers *buffers);
void verifier_release(struct verifier *verifier);

/* Check the current outputs. -1 only when the check could not be made. */
int verifier_check(struct verifier *verifier, const struct assay_variant *variant,
                   struct assay_call *call, struct check_result *found);

/* Compare a chunk of `output`, on the device, with what is expected; adds to `found`. */
int verifier_compare(const struct verifier *verifier, const struct chunk *chunk, const void *output,
                     struct check_result *found);

/* Compute the operation's quality metrics from the current outputs. */
int verifier_quality(const struct verifier *verifier, struct case_result *result);

/* Judge one element. Pure; declared for the tests. */
enum assay_match verify_element(const struct assay_operation *operation,
                                const struct assay_shape *shape, int buffer, double expected,
                                double bound, double got);

/* How many of the checked elements may be NEAR if a share `share` of all may be: three
 * standard deviations above the mean, because a small sample has more by chance. */
int64_t verify_near_limit(int64_t checked, double share);

/* Choose the chunks to check in an output of `count` elements: at most about `budget`
 * elements, in whole runs of `run`, at places that follow from `seed`. Returns how many (at
 * most ASSAY_CHECK_PLACES). Pure. */
int verify_plan(int64_t count, int64_t run, int64_t budget, uint64_t seed,
                int64_t begin[ASSAY_CHECK_PLACES], int64_t end[ASSAY_CHECK_PLACES]);
