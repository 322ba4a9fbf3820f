#include "judge/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/timings.h"

enum { LEAST_BLOCKS = 20, LEAST_SESSIONS = 3, MOST_BLOCKS = 1024 };

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

int noise_decade(double time_ns)
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
        begin[noise_decade(noise->blocks[i].time_ns) + 1]++;
    for (int d = 0; d < NOISE_DECADES; d++) {
        at[d] = begin[d];
        begin[d + 1] += begin[d];
    }
    for (int i = 0; i < noise->count; i++)
        values[at[noise_decade(noise->blocks[i].time_ns)]++] = noise->blocks[i].spread;
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

/* Index of the first block of the case, or of the first one after it. */
static int first_block(const struct noise *noise, const struct case_id *id)
{
    int from = 0, to = noise->count;
    while (from < to) {
        int middle = (from + to) / 2;
        if (case_id_order(&noise->blocks[middle].id, id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static double own_floor(const struct noise *noise, const struct case_id *id, int rounds)
{
    double shift[MOST_BLOCKS];
    int count = 0, sessions = 0;
    const char *session = "";
    for (int i = first_block(noise, id); i < noise->count && count < MOST_BLOCKS; i++) {
        const struct noise_block *block = &noise->blocks[i];
        if (case_id_order(&block->id, id) != 0) break;
        if (strcmp(session, block->session) != 0) sessions++;
        session = block->session;
        /* The error of an estimate falls with the square root of the rounds. */
        shift[count++] = block->shift * sqrt((double)block->rounds / rounds);
    }
    if (count < LEAST_BLOCKS || sessions < LEAST_SESSIONS) return NAN;
    stats_sort(shift, count);
    return stats_quantile_sorted(shift, count, 0.95);
}

double noise_floor(const struct noise *noise, const struct case_id *id, double time_ns, int rounds)
{
    if (!noise || noise->count == 0 || rounds < 1) return NAN;
    double own = own_floor(noise, id, rounds);
    if (!isnan(own)) return own;
    /* A case near a power of ten uses the decade of its own blocks. */
    int first = first_block(noise, id);
    bool has_blocks = first < noise->count && case_id_order(&noise->blocks[first].id, id) == 0;
    int like = noise_decade(has_blocks ? noise->blocks[first].time_ns : time_ns);
    return 3 * noise->pooled[like] / sqrt(rounds);
}
