/*
 * expected.h - what the outputs of a group should be, for the chunks that its verifier checks:
 * by the operation's reference, and bit for bit by the variants' models.
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
