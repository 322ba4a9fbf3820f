/*
 * product.h - Freivalds' check of outputs that are products: one sum per row, with random
 * signs that nobody can know beforehand, covers every element (assay_operation.product_check).
 */
#pragma once

#include "measure/verify.h"

/* What the sums of one output should be; `rows` is 0 if it is no product. */
struct product {
    int64_t rows, columns;
    uint64_t seed; /* of the signs */
    double *expected, *bound, *got;
};

/* Compute verifier->products for its inputs. */
int product_compute(struct verifier *verifier);

/* Compare the current outputs; adds the rows that are wrong to `found`. -1 when that could not
 * be done. */
int product_check(const struct verifier *verifier, struct check_result *found);

void product_release(struct verifier *verifier);
