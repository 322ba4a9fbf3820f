/*
 * witness.h - compares whole outputs of the variants of a group with one another, on the
 * device, where the reference sees a sample. The first variant that passes its check is the
 * witness: a copy of its outputs stays on the device. Wherever another differs from it by more
 * than the reference allows, the reference judges both.
 *
 * When the inputs are drawn anew, the copy is set aside: it holds right answers to earlier inputs.
 * They lie in the outputs before the first launch with the new ones, so that a variant finds there
 * what it may have left itself, whatever the variant before it wrote.
 */
#pragma once

#include "measure/buffers.h"

struct measurement;
struct measure_context;

struct witness {
    struct measurement *measurement;  /* NULL: none yet */
    void *copy[ASSAY_MAX_BUFFERS];    /* of its outputs; NULL where not an output */
    void *earlier[ASSAY_MAX_BUFFERS]; /* the copy of the earlier inputs; NULL: none */
    bool refused;                     /* there is no memory for copies */
};

/* The outputs of `measurement` passed their check: make it the witness if there is none, or
 * compare it with the witness; one or both may be found wrong. -1 when that could not be
 * done. */
int witness_hear(struct measure_context *context, struct measurement *measurement);

/* The inputs of `buffers` were drawn anew: set the copy aside, if there is memory for another. */
void witness_set_aside(struct measure_context *context, const struct buffers *buffers);

/* Write what was set aside to the outputs of `buffers`. */
int witness_put_earlier(const struct measure_context *context, const struct buffers *buffers);

/* Release what was set aside. */
void witness_drop_earlier(struct measure_context *context);

void witness_release(struct measure_context *context);
