#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "measure/expected.h"

/* An output of up to WHOLE_ELEMENTS is compared completely; of a larger one, about
 * SAMPLE_ELEMENTS are. ASSAY_CHECK_BUDGET limits both. */
static const int64_t WHOLE_ELEMENTS = 4 << 20;
static const int64_t SAMPLE_ELEMENTS = 1 << 20;

enum { PIECE = 8192 };

/* The places in output b are drawn from this stream of the group's seed, plus b. */
enum { PLACES_STREAM = 0x706c6163 };

/* --------------------------------------------------------------- choosing -- */

static int64_t round_down(int64_t value, int64_t multiple)
{
    return value / multiple * multiple;
}

int verify_plan(int64_t count, int64_t run, int64_t budget, uint64_t seed,
                int64_t begin[ASSAY_CHECK_PLACES], int64_t end[ASSAY_CHECK_PLACES])
{
    if (count <= 0) return 0;
    if (count <= budget || count <= run) {
        begin[0] = 0;
        end[0] = count;
        return 1;
    }
    int64_t runs = (count + run - 1) / run;
    int64_t wanted = budget / run > 0 ? budget / run : 1;
    int chunks = wanted < ASSAY_CHECK_PLACES ? (int)wanted : ASSAY_CHECK_PLACES;
    if (chunks < 2) chunks = 2; /* the first and the last */
    int64_t length = wanted / chunks > 0 ? wanted / chunks : 1;
    if (length * chunks > runs) length = runs / chunks > 0 ? runs / chunks : 1;
    for (int i = 0; i < chunks; i++) {
        /* One chunk per stratum, at a pseudo-random place in it. */
        int64_t low = runs * i / chunks, high = runs * (i + 1) / chunks;
        int64_t slack = high - low - length;
        int64_t place = low;
        if (slack > 0) place += (int64_t)(rng_mix(seed, (uint64_t)i) % (uint64_t)(slack + 1));
        if (i == 0) place = 0;
        if (i == chunks - 1) place = runs - length;
        begin[i] = place * run;
        end[i] = (place + length) * run < count ? (place + length) * run : count;
    }
    return chunks;
}

static int64_t element_budget(const struct assay_operation *operation,
                              const struct assay_shape *shape, int64_t count)
{
    double cost = operation->reference_cost ? operation->reference_cost(shape) : 1;
    double affordable = ASSAY_CHECK_BUDGET / (cost > 1 ? cost : 1);
    if ((double)count <= affordable && count <= WHOLE_ELEMENTS) return count;
    return affordable < (double)SAMPLE_ELEMENTS ? (int64_t)affordable : SAMPLE_ELEMENTS;
}

static int choose_chunks(struct verifier *verifier)
{
    const struct buffers *buffers = verifier->buffers;
    const struct assay_operation *operation = buffers->shape->operation;
    int64_t run = operation->reference_run ? operation->reference_run(buffers->shape) : 1;
    size_t longest = 0;
    if (run < 1) run = 1;
    verifier->piece = round_down(PIECE, run) > 0 ? round_down(PIECE, run) : run;
    verifier->chunks =
        calloc((size_t)ASSAY_CHECK_PLACES * ASSAY_MAX_BUFFERS, sizeof *verifier->chunks);
    if (verifier->chunks == NULL) return assay_error("out of host memory for the check");
    for (int b = 0; b < buffers->count; b++) {
        if (buffers->spec[b].role != ASSAY_OUT) continue;
        int64_t begin[ASSAY_CHECK_PLACES], end[ASSAY_CHECK_PLACES];
        int64_t count = buffers->spec[b].count;
        int64_t budget = element_budget(operation, buffers->shape, count);
        if (budget < count) budget = round_down(budget, run);
        uint64_t seed = rng_mix(buffers->input_seed, PLACES_STREAM + (uint64_t)b);
        int chunks = verify_plan(count, run, budget, seed, begin, end);
        verifier->outputs += count;
        for (int i = 0; i < chunks; i++) {
            size_t bytes = (size_t)(end[i] - begin[i]) * assay_type_bytes(buffers->spec[b].type);
            verifier->chunks[verifier->chunk_count++] =
                (struct chunk){b, begin[i], end[i], verifier->checked, verifier->bytes, bytes};
            verifier->checked += end[i] - begin[i];
            verifier->bytes += (bytes + 15) / 16 * 16; /* aligned for every type */
            if (bytes > longest) longest = bytes;
        }
    }
    /* Once for all checks: what is freed and allocated again is cleared by the system each time. */
    verifier->got = malloc(longest + 1);
    return verifier->got ? 0 : assay_error("out of host memory for a check");
}

/* --------------------------------------------------------------- expected -- */

/* The inputs that are not yet here, and of the others what was redrawn. */
static int copy_inputs(struct verifier *verifier)
{
    const struct buffers *buffers = verifier->buffers;
    for (int b = 0; b < buffers->count; b++) {
        const struct assay_buffer *spec = &buffers->spec[b];
        struct element_range part = buffers->redrawn[b];
        size_t element = assay_type_bytes(spec->type);
        if (spec->role != ASSAY_IN) continue;
        if (verifier->input[b] == NULL) {
            part = (struct element_range){0, spec->count};
            verifier->input[b] = malloc((size_t)spec->count * element + 1);
            if (verifier->input[b] == NULL)
                return assay_error("out of host memory for a copy of '%s'", spec->name);
        }
        size_t at = (size_t)part.begin * element;
        if (part.count > 0 &&
            buffers->ops->to_host(buffers->device, (char *)verifier->input[b] + at,
                                  (const char *)buffers->data[b] + at,
                                  (size_t)part.count * element) < 0)
            return -1;
    }
    return 0;
}

static int compute(struct verifier *verifier, const struct buffers *buffers)
{
    verifier->buffers = buffers;
    if (choose_chunks(verifier) < 0 || copy_inputs(verifier) < 0) return -1;
    if (expected_compute(verifier) < 0) return -1;
    return product_compute(verifier);
}

int verifier_init(struct verifier *verifier, const struct buffers *buffers)
{
    memset(verifier, 0, sizeof *verifier);
    return compute(verifier, buffers);
}

/* All but the inputs. */
static void forget(struct verifier *verifier)
{
    expected_release(verifier);
    product_release(verifier);
    free(verifier->chunks);
    free(verifier->got);
}

int verifier_renew(struct verifier *verifier, const struct buffers *buffers)
{
    struct verifier renewed = {0};
    memcpy(renewed.input, verifier->input, sizeof renewed.input);
    forget(verifier);
    *verifier = renewed;
    return compute(verifier, buffers);
}

void verifier_release(struct verifier *verifier)
{
    forget(verifier);
    for (int b = 0; b < ASSAY_MAX_BUFFERS; b++)
        free((void *)verifier->input[b]);
    memset(verifier, 0, sizeof *verifier);
}

/* --------------------------------------------------------------- judging -- */

enum assay_match verify_element(const struct assay_operation *operation,
                                const struct assay_shape *shape, int buffer, double expected,
                                double bound, double got)
{
    if (operation->match) return operation->match(shape, buffer, expected, got);
    if (got == expected) return ASSAY_EXACT; /* infinities too */
    if (isnan(expected)) return isnan(got) ? ASSAY_EXACT : ASSAY_WRONG;
    if (isinf(expected)) return ASSAY_WRONG; /* no bound is near an infinity */
    if (isnan(bound)) bound = operation->tolerance.abs + operation->tolerance.rel * fabs(expected);
    return fabs(got - expected) <= bound ? ASSAY_EXACT : ASSAY_WRONG;
}

/* Whether `got` is the nearest of its type to what is expected: for the outputs whose rounding is
 * judged (assay_tolerance.near_share). */
static bool is_nearest(enum assay_type type, double expected, double got)
{
    uint16_t nearest;
    if (type != ASSAY_BF16 && type != ASSAY_F16 && type != ASSAY_E4M3 && type != ASSAY_E5M2)
        return true;
    assay_store(type, &nearest, 0, expected);
    return assay_load(type, &nearest, 0) == got;
}

static void judge_chunk(const struct verifier *verifier, const struct chunk *chunk, const void *got,
                        struct tally *total)
{
    const struct assay_shape *shape = verifier->buffers->shape;
    enum assay_type type = verifier->buffers->spec[chunk->buffer].type;
    bool rounds = shape->operation->match == NULL && shape->operation->tolerance.near_share > 0;
    int64_t count = chunk->end - chunk->begin;
#pragma omp parallel if (count > PIECE)
    {
        struct tally mine = {0};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i++) {
            double value = assay_load(type, got, i), expected = verifier->expected[chunk->at + i];
            double bound = verifier->bound[chunk->at + i];
            enum assay_match match =
                verify_element(shape->operation, shape, chunk->buffer, expected, bound, value);
            if (rounds && match == ASSAY_EXACT && !is_nearest(type, expected, value))
                match = ASSAY_NEAR;
            tally_element(&mine, match, chunk->begin + i, expected, bound, value);
        }
#pragma omp critical(verify_tally)
        tally_merge(total, &mine);
    }
}

static void compare_reference(const struct verifier *verifier, const struct chunk *chunk,
                              const void *got, struct check_result *found)
{
    const struct assay_operation *operation = verifier->buffers->shape->operation;
    struct tally tally = {0};
    judge_chunk(verifier, chunk, got, &tally);
    found->near += tally.near;
    tally_values_merge(&found->near_values, &tally.near_values);
    found->wrong += tally.wrong;
    found->rms += tally.squares; /* finish_check divides */
    /* If `match` judges, `expected` need not be the value that is written. */
    if (operation->match == NULL) {
        found->max_abs_error = fmax(found->max_abs_error, tally.max_abs);
        found->max_rel_error = fmax(found->max_rel_error, tally.max_rel);
    }
    if (tally.wrong > 0 && found->reason[0] == '\0')
        snprintf(found->reason, sizeof found->reason, "%s[%lld] is %.9g, expected %.9g",
                 verifier->buffers->spec[chunk->buffer].name, (long long)tally.first_wrong,
                 tally.first_got, tally.first_expected);
}

static void compare_model(const struct verifier *verifier, const struct chunk *chunk,
                          const unsigned char *model, const unsigned char *got,
                          struct check_result *found)
{
    const struct assay_buffer *spec = &verifier->buffers->spec[chunk->buffer];
    size_t element = assay_type_bytes(spec->type);
    int64_t count = chunk->end - chunk->begin;
    if (memcmp(model, got, chunk->bytes) == 0) return;
    for (int64_t i = 0; i < count; i++) {
        size_t at = (size_t)i * element;
        if (memcmp(model + at, got + at, element) == 0) continue;
        if (found->wrong++ == 0)
            snprintf(found->reason, sizeof found->reason, "%s[%lld] is %.9g, its model says %.9g",
                     spec->name, (long long)(chunk->begin + i), assay_load(spec->type, got, i),
                     assay_load(spec->type, model, i));
    }
}

static int fetch(const struct verifier *verifier, const struct chunk *chunk, const void *output)
{
    const struct buffers *buffers = verifier->buffers;
    size_t element = assay_type_bytes(buffers->spec[chunk->buffer].type);
    const char *from = (const char *)output + (size_t)chunk->begin * element;
    return buffers->ops->to_host(buffers->device, verifier->got, from, chunk->bytes);
}

int verifier_compare(const struct verifier *verifier, const struct chunk *chunk, const void *output,
                     struct check_result *found)
{
    if (fetch(verifier, chunk, output) < 0) return -1;
    compare_reference(verifier, chunk, verifier->got, found);
    return 0;
}

/* `model`: the expected bytes of all chunks by the variant's model, or NULL. */
static int check_chunk(const struct verifier *verifier, const struct assay_variant *variant,
                       const struct chunk *chunk, const unsigned char *model,
                       struct check_result *found)
{
    if (fetch(verifier, chunk, verifier->buffers->data[chunk->buffer]) < 0) return -1;
    int64_t wrong = found->wrong;
    if (!variant->apart && verifier->expected)
        compare_reference(verifier, chunk, verifier->got, found);
    /* Do not count an element twice that both find wrong. */
    if (model && found->wrong == wrong)
        compare_model(verifier, chunk, model + chunk->offset, verifier->got, found);
    return 0;
}

int64_t verify_near_limit(int64_t checked, double share)
{
    double expected = share * (double)checked;
    return (int64_t)fmax(1.0, expected + 3.0 * sqrt(expected));
}

/* Whether more are a rounding off than chance allows. `match` judges codes, which are few. */
static bool exceeds_near(const struct verifier *verifier, const struct check_result *found)
{
    const struct assay_operation *operation = verifier->buffers->shape->operation;
    int64_t most = verify_near_limit(verifier->checked, operation->tolerance.near_share);
    return found->near > most && (operation->match || found->near_values.count == TALLY_VALUES);
}

/* Whether errors are larger together than chance allows; see assay_operation.rms. */
static bool exceeds_rms(const struct verifier *verifier, struct check_result *found)
{
    const struct assay_shape *shape = verifier->buffers->shape;
    double most = shape->operation->rms ? shape->operation->rms(shape) : 0;
    if (most == 0 || found->rms <= most * (1 + 4 / sqrt((double)verifier->checked))) return false;
    snprintf(found->reason, sizeof found->reason,
             "the root mean square of the errors is %.3g of their bounds, %.3g is allowed",
             found->rms, most);
    return true;
}

static void finish_check(const struct verifier *verifier, struct check_result *found)
{
    const struct assay_operation *operation = verifier->buffers->shape->operation;
    if (verifier->checked == 0) return;
    found->near_share = (double)found->near / (double)verifier->checked;
    found->rms = sqrt(found->rms / (double)verifier->checked);
    if (found->wrong > 0) {
        text_add(found->reason, sizeof found->reason, " ", "(%lld of %lld wrong)",
                 (long long)found->wrong, (long long)verifier->checked);
    } else if (!exceeds_rms(verifier, found) && exceeds_near(verifier, found)) {
        snprintf(found->reason, sizeof found->reason,
                 "%.3g of the elements differ by a rounding, %.3g are allowed", found->near_share,
                 operation->tolerance.near_share);
    }
}

int verifier_check(struct verifier *verifier, const struct assay_variant *variant,
                   struct assay_call *call, struct check_result *found)
{
    memset(found, 0, sizeof *found);
    if (variant->check) {
        assay_clear_error();
        if (variant->check(call) < 0)
            snprintf(found->reason, sizeof found->reason, "%s", assay_last_error());
        /* A copy to the device may return before its data has arrived, and the reads of the
         * output below are not ordered after it. */
        if (verifier->buffers->ops->synchronize(verifier->buffers->device) < 0) return -1;
    }
    if (found->reason[0] || (variant->apart && variant->model == NULL)) return 0;
    if (!variant->apart)
        found->wrong = coverage_missing(verifier->buffers, found->reason, sizeof found->reason);
    if (found->wrong) return found->wrong < 0 ? -1 : 0;
    const unsigned char *model = NULL;
    if (variant->model && (model = expected_by_model(verifier, variant)) == NULL) return -1;
    for (int i = 0; i < verifier->chunk_count; i++)
        if (check_chunk(verifier, variant, &verifier->chunks[i], model, found) < 0) return -1;
    finish_check(verifier, found);
    if (variant->apart || found->reason[0]) return 0;
    return product_check(verifier, found);
}

/* --------------------------------------------------------------- quality -- */

int verifier_quality(const struct verifier *verifier, struct case_result *result)
{
    const struct buffers *buffers = verifier->buffers;
    const struct assay_operation *operation = buffers->shape->operation;
    if (operation->quality == NULL) return 0;

    const void *host[ASSAY_MAX_BUFFERS];
    memcpy(host, verifier->input, sizeof host);
    int status = 0;
    for (int b = 0; b < buffers->count && status == 0; b++) {
        if (buffers->spec[b].role != ASSAY_OUT) continue;
        size_t bytes = (size_t)buffers->spec[b].count * assay_type_bytes(buffers->spec[b].type);
        void *copy = malloc(bytes + 1);
        host[b] = copy;
        status = copy ? buffers->ops->to_host(buffers->device, copy, buffers->data[b], bytes)
                      : assay_error("out of host memory for the figures of quality");
    }
    struct assay_metric metrics[ASSAY_MAX_METRICS];
    int count = status == 0 ? operation->quality(buffers->shape, host, metrics) : 0;
    result->metric_count = 0;
    for (int i = 0; i < count && i < ASSAY_MAX_METRICS; i++)
        result_add_metric(result, metrics[i].name, metrics[i].value);
    for (int b = 0; b < buffers->count; b++)
        if (buffers->spec[b].role == ASSAY_OUT) free((void *)host[b]);
    return status;
}
