/*
 * witness.h - compares whole outputs of the variants of a group with one another, on the
 * device, where the reference sees a sample. The first variant that passes its check is the
 * witness: a copy of its outputs stays on the device. Wherever another differs from it by more
 * than the reference allows, the reference judges both.
 */
#pragma once

#include "measure/buffers.h"

struct measurement;
struct measure_context;

struct witness {
    struct measurement *measurement; /* NULL: none yet */
    void *copy[ASSAY_MAX_BUFFERS];   /* of its outputs; NULL where not an output */
    bool refused;                    /* there is no memory for copies */
};

/* The outputs of `measurement` passed their check: make it the witness if there is none, or
 * compare it with the witness; one or both may be found wrong. -1 when that could not be
 * done. */
int witness_hear(struct measure_context *context, struct measurement *measurement);

/* The outputs of the witness are no longer those of the inputs. */
void witness_forget(struct witness *witness);

void witness_release(struct measure_context *context);
