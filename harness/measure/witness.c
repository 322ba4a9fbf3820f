#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stats.h"
#include "measure/expected.h"
#include "measure/measurement.h"
#include "measure/steps.h"
#include "measure/witness.h"

enum {
    FREE_SHARE = 8,     /* copies take at most 1 / FREE_SHARE of the free memory */
    UNKNOWN_MIB = 1024, /* the most that they take where it is unknown */
    BOUNDS_READ = 1024, /* elements whose bounds tell what difference is allowed */
    MOST_SUSPECTS = ASSAY_MAX_BUFFERS * ASSAY_CHECK_PLACES,
};

/* A place where an output differs from the witness's by more than its threshold. */
struct suspect {
    int buffer;
    struct difference difference;
};

static void release_copies(const struct measure_context *context, void *copy[ASSAY_MAX_BUFFERS])
{
    for (int b = 0; b < ASSAY_MAX_BUFFERS; b++) {
        if (copy[b]) context->ops->release(context->device, copy[b]);
        copy[b] = NULL;
    }
}

void witness_drop_earlier(struct measure_context *context)
{
    release_copies(context, context->witness.earlier);
}

void witness_release(struct measure_context *context)
{
    witness_drop_earlier(context);
    release_copies(context, context->witness.copy);
    context->witness.measurement = NULL;
}

static size_t output_bytes(const struct buffers *buffers, int b)
{
    const struct assay_buffer *spec = &buffers->spec[b];
    if (b >= buffers->count || spec->role != ASSAY_OUT) return 0;
    return (size_t)spec->count * assay_type_bytes(spec->type);
}

/* ------------------------------------------------------------------ copies -- */

static bool fits(const struct measure_context *context, const struct buffers *buffers)
{
    int64_t bytes = 0, left = context->ops->free_bytes(context->device);
    for (int b = 0; b < buffers->count; b++)
        bytes += (int64_t)output_bytes(buffers, b);
    return bytes <= (left < 0 ? (int64_t)UNKNOWN_MIB << 20 : left / FREE_SHARE);
}

/* False if there is no memory for them. */
static bool has_copies(struct measure_context *context, const struct buffers *buffers)
{
    struct witness *witness = &context->witness;
    for (int b = 0; b < buffers->count; b++)
        if (witness->copy[b]) return true;
    if (witness->refused || !fits(context, buffers)) return false;
    for (int b = 0; b < buffers->count; b++) {
        size_t bytes = output_bytes(buffers, b);
        if (bytes == 0) continue;
        witness->copy[b] = context->ops->alloc(context->device, bytes);
        if (witness->copy[b]) continue;
        witness_release(context);
        witness->refused = true;
        assay_clear_error();
        return false;
    }
    return true;
}

void witness_set_aside(struct measure_context *context, const struct buffers *buffers)
{
    struct witness *witness = &context->witness;
    if (witness->measurement && fits(context, buffers)) {
        memcpy(witness->earlier, witness->copy, sizeof witness->earlier);
        memset(witness->copy, 0, sizeof witness->copy);
    }
    witness->measurement = NULL;
}

int witness_put_earlier(const struct measure_context *context, const struct buffers *buffers)
{
    void *const *earlier = context->witness.earlier;
    for (int b = 0; b < buffers->count; b++)
        if (earlier[b] && context->ops->copy(context->device, buffers->data[b], earlier[b],
                                             output_bytes(buffers, b)) < 0)
            return -1;
    return 0;
}

static int take(struct measure_context *context, struct measurement *measurement)
{
    const struct buffers *buffers = measurement->buffers;
    if (!has_copies(context, buffers)) return 0;
    for (int b = 0; b < buffers->count; b++) {
        size_t bytes = output_bytes(buffers, b);
        if (bytes > 0 && context->ops->copy(context->device, context->witness.copy[b],
                                            buffers->data[b], bytes) < 0)
            return -1;
    }
    context->witness.measurement = measurement;
    return 0;
}

/* ---------------------------------------------------------------- suspects -- */

/* Up to what difference from the witness an output is no suspect: the median of the bounds of the
 * sampled elements. 0 where the operation's match judges. */
static double threshold(const struct verifier *verifier, int buffer)
{
    const struct assay_operation *operation = verifier->buffers->shape->operation;
    double bounds[BOUNDS_READ];
    int count = 0;
    int64_t step = verifier->checked / BOUNDS_READ + 1;
    if (operation->match) return 0;
    for (int c = 0; c < verifier->chunk_count; c++) {
        const struct chunk *chunk = &verifier->chunks[c];
        int64_t end = chunk->at + chunk->end - chunk->begin;
        if (chunk->buffer != buffer) continue;
        for (int64_t i = (chunk->at + step - 1) / step * step; i < end; i += step) {
            double bound = verifier->bound[i], expected = fabs(verifier->expected[i]);
            if (isnan(bound))
                bound = operation->tolerance.abs + operation->tolerance.rel * expected;
            if (isfinite(bound) && count < BOUNDS_READ) bounds[count++] = bound;
        }
    }
    return count > 0 ? stats_median(bounds, count) : 0;
}

static int by_size(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    return (x->difference.by < y->difference.by) - (x->difference.by > y->difference.by);
}

/* All places that differ by more than the threshold, the largest first. How many, or -1. */
static int find_suspects(const struct measure_context *context, const struct buffers *buffers,
                         struct suspect out[MOST_SUSPECTS])
{
    struct difference found[ASSAY_CHECK_PLACES];
    int count = 0;
    for (int b = 0; b < buffers->count; b++) {
        if (output_bytes(buffers, b) == 0) continue;
        if (buffers->ops->differ(buffers->device, buffers->data[b], context->witness.copy[b],
                                 buffers->spec[b].type, buffers->spec[b].count, found) < 0)
            return -1;
        double allowed = threshold(&context->verifier, b);
        for (int i = 0; i < ASSAY_CHECK_PLACES; i++)
            if (found[i].by > allowed) out[count++] = (struct suspect){b, found[i]};
    }
    qsort(out, (size_t)count, sizeof *out, by_size);
    return count;
}

/* ----------------------------------------------------------------- judging -- */

/* Add to `trial` the runs of the reference that hold the first suspects, each run once: as many as
 * the budget of a check affords, at least one. */
static void choose_runs(struct verifier *trial, const struct suspect *suspects, int count)
{
    const struct assay_shape *shape = trial->buffers->shape;
    const struct assay_operation *operation = shape->operation;
    int64_t run = operation->reference_run ? operation->reference_run(shape) : 1;
    double cost = operation->reference_cost ? operation->reference_cost(shape) : 1;
    if (run < 1) run = 1;
    double left = ASSAY_CHECK_BUDGET;
    trial->piece = run;
    for (int i = 0; i < count && (left > 0 || i == 0); i++) {
        const struct assay_buffer *spec = &trial->buffers->spec[suspects[i].buffer];
        int64_t begin = suspects[i].difference.index / run * run;
        int64_t end = begin + run < spec->count ? begin + run : spec->count;
        bool known = false;
        for (int c = 0; c < trial->chunk_count; c++)
            known |=
                trial->chunks[c].buffer == suspects[i].buffer && trial->chunks[c].begin == begin;
        left -= known ? 0 : cost * (double)(end - begin);
        if (known || (left < 0 && trial->chunk_count > 0)) continue;
        size_t bytes = (size_t)(end - begin) * assay_type_bytes(spec->type);
        trial->chunks[trial->chunk_count++] =
            (struct chunk){suspects[i].buffer, begin, end, trial->checked, 0, bytes};
        trial->checked += end - begin;
        if (bytes > trial->bytes) trial->bytes = bytes; /* the longest */
    }
}

/* What the reference says of the suspects in the outputs at `data`. */
static int judge(const struct verifier *trial, void *const data[], struct check_result *found)
{
    memset(found, 0, sizeof *found);
    for (int c = 0; c < trial->chunk_count; c++)
        if (verifier_compare(trial, &trial->chunks[c], data[trial->chunks[c].buffer], found) < 0)
            return -1;
    return 0;
}

/* Make a variant wrong; it may be the witness, which has passed before. */
static void convict(struct measure_context *context, struct measurement *measurement,
                    const struct measurement *beside, const char *reason)
{
    char text[2 * ASSAY_MAX_REASON];
    if (measurement->phase == MEASUREMENT_OVER) return; /* it has failed since */
    snprintf(text, sizeof text, "%s (found where it differs from %s)", reason,
             beside == measurement ? "its earlier output" : beside->variant->name);
    step_wrong(measurement, context, text);
}

static int try_both(struct measure_context *context, struct measurement *measurement,
                    struct verifier *trial)
{
    struct measurement *witness = context->witness.measurement;
    struct check_result mine, other;
    if (expected_compute(trial) < 0 || judge(trial, measurement->buffers->data, &mine) < 0 ||
        judge(trial, context->witness.copy, &other) < 0)
        return -1;
    if (mine.wrong > 0) convict(context, measurement, witness, mine.reason);
    if (other.wrong == 0) return 0;
    convict(context, witness, measurement, other.reason);
    context->witness.measurement = NULL;
    return mine.wrong > 0 ? 0 : take(context, measurement);
}

static int compare(struct measure_context *context, struct measurement *measurement,
                   struct suspect suspects[MOST_SUSPECTS])
{
    int count = find_suspects(context, measurement->buffers, suspects);
    if (count <= 0) return count;
    struct verifier trial = {.buffers = measurement->buffers};
    memcpy(trial.input, context->verifier.input, sizeof trial.input);
    trial.chunks = calloc((size_t)count, sizeof *trial.chunks);
    if (trial.chunks) choose_runs(&trial, suspects, count);
    trial.got = malloc(trial.bytes + 1);
    int status = trial.chunks && trial.got ? try_both(context, measurement, &trial)
                                           : assay_error("out of host memory for a check");
    expected_release(&trial);
    free(trial.chunks);
    free(trial.got);
    return status;
}

int witness_hear(struct measure_context *context, struct measurement *measurement)
{
    if (measurement->variant->apart || context->verifier.expected == NULL) return 0;
    if (context->witness.measurement == NULL) return take(context, measurement);
    struct suspect *suspects = malloc(MOST_SUSPECTS * sizeof *suspects);
    if (suspects == NULL) return assay_error("out of host memory for a check");
    int status = compare(context, measurement, suspects);
    free(suspects);
    return status;
}
