#include "judge/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/timings.h"

enum {
    LEAST_BLOCKS = 20,
    LEAST_SESSIONS = 3,
    MOST_BLOCKS = 1024,
    GATE_ROUNDS = 10, /* of the stage that decides */
};

static int number_order(double a, double b)
{
    return (a > b) - (a < b);
}

/* 0 only for the same block: one session may have several blocks of a case. */
static int block_order(const void *a, const void *b)
{
    const struct noise_block *x = a, *y = b;
    int order = case_id_order(&x->id, &y->id);
    if (order == 0) order = strcmp(x->session, y->session);
    if (order == 0) order = number_order(x->rounds, y->rounds);
    if (order == 0) order = number_order(x->shift, y->shift);
    if (order == 0) order = number_order(x->spread, y->spread);
    return order ? order : number_order(x->time_ns, y->time_ns);
}

/* The decade of a time: its power of ten in ns. */
static int decade_of(double time_ns)
{
    if (!(time_ns >= 1)) return 0;
    int power = (int)floor(log10(time_ns));
    return power < NOISE_DECADES ? power : NOISE_DECADES - 1;
}

/* Write the spreads to `values`, grouped by decade; decade d is at begin[d] to begin[d + 1]. */
static void sort_by_decade(const struct noise *noise, double *values, int begin[NOISE_DECADES + 1])
{
    int at[NOISE_DECADES];
    memset(begin, 0, (NOISE_DECADES + 1) * sizeof *begin);
    for (int i = 0; i < noise->count; i++)
        begin[decade_of(noise->blocks[i].time_ns) + 1]++;
    for (int d = 0; d < NOISE_DECADES; d++) {
        at[d] = begin[d];
        begin[d + 1] += begin[d];
    }
    for (int i = 0; i < noise->count; i++)
        values[at[decade_of(noise->blocks[i].time_ns)]++] = noise->blocks[i].spread;
}

int noise_prepare(struct noise *noise)
{
    int begin[NOISE_DECADES + 1];
    double *values = calloc((size_t)noise->count + 1, sizeof *values);
    if (!values) return assay_error("out of memory for the noise of unchanged code");
    sort_by_decade(noise, values, begin);
    for (int d = 0; d < NOISE_DECADES; d++)
        noise->pooled[d] = stats_median(values + begin[d], begin[d + 1] - begin[d]);
    free(values);
    if (noise->count)
        qsort(noise->blocks, (size_t)noise->count, sizeof *noise->blocks, block_order);
    return 0;
}

int noise_merge(struct noise *noise, struct noise *more)
{
    if (noise->count == 0) {
        noise_release(noise);
        *noise = *more;
        *more = (struct noise){0};
        return 0;
    }
    size_t count = (size_t)noise->count + (size_t)more->count;
    struct noise_block *blocks = realloc(noise->blocks, (count + 1) * sizeof *blocks);
    if (!blocks) return assay_error("out of memory for the noise of unchanged code");
    noise->blocks = blocks;
    if (more->count)
        memcpy(blocks + noise->count, more->blocks, (size_t)more->count * sizeof *blocks);
    qsort(blocks, count, sizeof *blocks, block_order);
    noise->count = 0;
    for (size_t i = 0; i < count; i++)
        if (noise->count == 0 || block_order(&blocks[noise->count - 1], &blocks[i]) != 0)
            blocks[noise->count++] = blocks[i];
    return noise_prepare(noise);
}

int noise_sessions(const struct noise *noise)
{
    int sessions = 0;
    for (int i = 0; i < noise->count; i++) {
        int j = 0;
        while (j < i && strcmp(noise->blocks[j].session, noise->blocks[i].session) != 0)
            j++;
        sessions += j == i;
    }
    return sessions;
}

void noise_release(struct noise *noise)
{
    free(noise->blocks);
    memset(noise, 0, sizeof *noise);
}

/* `block`: the first of the case; NULL: none. */
static double own_floor(const struct noise *noise, const struct noise_block *block, int rounds)
{
    double shift[MOST_BLOCKS];
    int count = 0, sessions = 0;
    const struct noise_block *end = noise->blocks + noise->count;
    const char *session = "";
    for (const struct noise_block *b = block; b && b < end && count < MOST_BLOCKS; b++) {
        if (case_id_order(&b->id, &block->id) != 0) break;
        if (strcmp(session, b->session) != 0) sessions++;
        session = b->session;
        /* The error of an estimate falls with the square root of the rounds. */
        shift[count++] = b->shift * sqrt((double)b->rounds / rounds);
    }
    if (count < LEAST_BLOCKS || sessions < LEAST_SESSIONS) return NAN;
    stats_sort(shift, count);
    return stats_quantile_sorted(shift, count, 0.95);
}

double noise_floor(const struct noise *noise, const struct case_id *id, double time_ns, int rounds)
{
    if (!noise || noise->count == 0 || rounds < 1) return NAN;
    const struct noise_block *first =
        case_first(id, noise->blocks, noise->count, sizeof *noise->blocks);
    double own = own_floor(noise, first, rounds);
    if (!isnan(own)) return own;
    /* A case near a power of ten uses the decade of its own blocks. */
    return 3 * noise->pooled[decade_of(first ? first->time_ns : time_ns)] / sqrt(rounds);
}

struct noise_pair noise_pair_of(double one_ns, double other_ns)
{
    double larger = fmax(one_ns, other_ns), smaller = fmin(one_ns, other_ns);
    return (struct noise_pair){0.5 * (one_ns + other_ns), larger / smaller - 1};
}

static int by_decade_and_change(const void *a, const void *b)
{
    const struct noise_pair *x = a, *y = b;
    int order = decade_of(x->time_ns) - decade_of(y->time_ns);
    return order ? order : (x->change > y->change) - (x->change < y->change);
}

static double quantile(const struct noise_pair *sorted, int count, double share)
{
    double at = share * (count - 1);
    int below = (int)at, above = below + (below < count - 1);
    return sorted[below].change + (at - below) * (sorted[above].change - sorted[below].change);
}

static void add_blocks(struct noise_band *band, const struct noise *noise, int decade)
{
    const struct noise_block *last = NULL;
    for (int i = 0; i < noise->count; i++) {
        const struct noise_block *block = &noise->blocks[i];
        if (decade_of(block->time_ns) != decade) continue;
        band->blocks++;
        band->cases += !last || case_id_order(&last->id, &block->id) != 0;
        last = block;
    }
    band->floor = expm1(3 * noise->pooled[decade] / sqrt(GATE_ROUNDS));
}

int noise_bands_make(struct noise_band bands[NOISE_DECADES], const struct noise *noise,
                     struct noise_pair *pairs, int count)
{
    int made = 0, from = 0;
    if (count) qsort(pairs, (size_t)count, sizeof *pairs, by_decade_and_change);
    for (int decade = 0; decade < NOISE_DECADES; decade++) {
        struct noise_band band = {.least_ns = pow(10, decade), .p50 = NAN, .p95 = NAN, .max = NAN};
        while (from + band.pairs < count && decade_of(pairs[from + band.pairs].time_ns) == decade)
            band.pairs++;
        if (band.pairs > 0) {
            band.p50 = quantile(pairs + from, band.pairs, 0.5);
            band.p95 = quantile(pairs + from, band.pairs, 0.95);
            band.max = pairs[from + band.pairs - 1].change;
        }
        from += band.pairs;
        add_blocks(&band, noise, decade);
        if (band.pairs > 0 || band.blocks > 0) bands[made++] = band;
    }
    return made;
}
