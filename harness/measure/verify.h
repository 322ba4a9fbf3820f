/*
 * verify.h - whether what a variant wrote is right.
 *
 * A verifier belongs to a group: it holds host copies of the inputs and the
 * expected values, computed once in double and shared by all variants. Small
 * outputs are compared whole; larger ones at chunks spread over every part of
 * the output, first and last elements always among them.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "measure/buffers.h"

struct models;

/* Elements [begin, end) of one output buffer, and where their expected values
 * stand in the verifier's arrays. */
struct chunk {
    int buffer;
    int64_t begin, end;
    int64_t at;
};

struct verifier {
    const struct buffers *buffers;
    const void *input[ASSAY_MAX_BUFFERS]; /* host copies; NULL where not an input */
    int chunk_count;
    struct chunk *chunks;
    double *expected;
    double *bound; /* absolute; NAN where the operation's tolerance or match holds */
    int64_t outputs, checked;
    int64_t piece;         /* elements that one thread computes at a time: whole runs */
    void *got;             /* one chunk of an output, as the device has it */
    struct models *models; /* models.h */
};

/* What a check found. `reason` is "" when it passed. */
struct check_result {
    int64_t near, wrong;
    double max_abs_error, max_rel_error, near_share;
    char reason[ASSAY_MAX_REASON];
};

/* Copies the inputs and computes what is expected. */
int verifier_init(struct verifier *verifier, const struct buffers *buffers);
void verifier_release(struct verifier *verifier);

/* Check the outputs as they stand. -1 only when the check itself failed. */
int verifier_check(const struct verifier *verifier, const struct assay_variant *variant,
                   struct assay_call *call, struct check_result *found);

/* The operation's figures of quality for the outputs as they stand. */
int verifier_quality(const struct verifier *verifier, struct case_result *result);

/* Judge one element. Pure; declared for the tests. */
enum assay_match verify_element(const struct assay_operation *operation,
                                const struct assay_shape *shape, int buffer, double expected,
                                double bound, double got);

/* How many of the checked elements may differ at a tie where `share` of all may:
 * three standard deviations above the mean, for a small output has more by chance. */
int64_t verify_near_limit(int64_t checked, double share);

/* What the reference of an output may cost, in multiply-adds: the budget of verify_plan is this
 * over reference_cost. */
#define VERIFY_COST_BUDGET 0x1p25

/* Chunks for an output of `count` elements checked in runs of `run`, at most
 * about `budget` elements. Pure; returns how many (at most VERIFY_CHUNKS). */
enum { VERIFY_CHUNKS = 256 };
int verify_plan(int64_t count, int64_t run, int64_t budget, int64_t begin[VERIFY_CHUNKS],
                int64_t end[VERIFY_CHUNKS]);

#endif
