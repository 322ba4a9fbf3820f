/*
 * expected.h - what the outputs of a group should be, for the chunks that its verifier checks:
 * by the operation's reference, and bit for bit by the variants' models; and what the rows of a
 * product add up to.
 */
#pragma once

#include "measure/verify.h"

/* Compute verifier->expected and ->bound, if the operation has a reference. */
int expected_compute(struct verifier *verifier);

/* The bytes of all chunks by the variant's model, one after another (chunk->offset). Many
 * variants share one model and each is checked twice, but a model is computed once. NULL with
 * assay_error. */
const unsigned char *expected_by_model(struct verifier *verifier,
                                       const struct assay_variant *variant);

void expected_release(struct verifier *verifier);

/* Freivalds' check of outputs that are products: one sum per row, with random signs that nobody can
 * know beforehand, covers every element (assay_operation.product_check). What the sums of one
 * output should be; `rows` is 0 if it is no product. */
struct product {
    int64_t rows, columns;
    uint64_t seed; /* of the signs */
    double *expected, *bound, *got;
};

/* Compute verifier->products for its inputs. */
int product_compute(struct verifier *verifier);

/* Compare the current outputs; adds wrong rows to `found`. -1 when that could not be done. */
int product_check(const struct verifier *verifier, struct check_result *found);

void product_release(struct verifier *verifier);
