#include "judge/noise_bands.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "judge/timings.h"

enum { GATE_ROUNDS = 10 }; /* of the stage that decides */

struct noise_pair noise_pair_of(double one_ns, double other_ns)
{
    double larger = fmax(one_ns, other_ns), smaller = fmin(one_ns, other_ns);
    return (struct noise_pair){0.5 * (one_ns + other_ns), larger / smaller - 1};
}

static int by_decade_and_change(const void *a, const void *b)
{
    const struct noise_pair *x = a, *y = b;
    int order = noise_decade(x->time_ns) - noise_decade(y->time_ns);
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
        if (noise_decade(block->time_ns) != decade) continue;
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
        while (from + band.pairs < count &&
               noise_decade(pairs[from + band.pairs].time_ns) == decade)
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
