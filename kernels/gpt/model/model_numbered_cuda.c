/* model_numbered_cuda.c - see model_numbered.h. */
#include "model_numbered.h"

#include <stdio.h>

#include "model_pair.h"
#include "model_ring.h"
#include "model_whole.h"

enum kind { TILE, RING, WHOLE, PAIR, SPLIT, KINDS };

static int count_of(int kind, int64_t precision)
{
    return kind == TILE    ? model_tiles(precision)
           : kind == RING  ? model_rings()
           : kind == WHOLE ? model_wholes()
           : kind == PAIR  ? model_pairs()
                           : model_splits();
}

/* What a number is of; it becomes the number among those. */
static int kind_of(int *number, int64_t precision)
{
    int kind = TILE;
    for (; kind < SPLIT && *number >= count_of(kind, precision); kind++)
        *number -= count_of(kind, precision);
    return kind;
}

int model_numbered(int64_t precision)
{
    int sum = 0;
    for (int kind = TILE; kind < KINDS; kind++)
        sum += count_of(kind, precision);
    return sum;
}

void model_numbered_name(int64_t precision, int number, char *out, size_t size)
{
    const int kind = kind_of(&number, precision);
    if (kind == PAIR)
        model_pair_name(number, out, size);
    else if (kind == SPLIT)
        model_split_name(number, out, size);
    else
        (void)snprintf(out, size, "%s",
                       kind == TILE   ? model_tile_name(precision, number)
                       : kind == RING ? model_ring_name(number)
                                      : model_whole_name(number));
}

const char *model_numbered_refused(const struct model_split *split, const struct model_step *step,
                                   int number)
{
    const int kind = kind_of(&number, step->precision);
    return kind == TILE    ? model_tile_refused(step, number)
           : kind == RING  ? model_ring_refused(step, number)
           : kind == WHOLE ? model_whole_refused(step, number)
           : kind == PAIR  ? model_pair_refused(step, number)
                           : model_split_refused(split, step, number);
}

int model_numbered_enqueue(const struct model_split *split, const struct model_step *step,
                           int number, void *normed, void *stream)
{
    const int kind = kind_of(&number, step->precision);
    return kind == TILE    ? model_tile_enqueue(step, number, stream)
           : kind == RING  ? model_ring_enqueue(step, number, normed, stream)
           : kind == WHOLE ? model_whole_enqueue(step, number, stream)
           : kind == PAIR  ? model_pair_enqueue(step, number, normed, stream)
                           : model_split_enqueue(split, step, number, normed, stream);
}
