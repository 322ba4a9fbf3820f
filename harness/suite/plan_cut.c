#include "suite/plan_cut.h"

#include <stdlib.h>

#include "case/shape.h"

/* What starting and checking a variant take beside its work, as bytes; and operations per byte. */
static const double FIXED_BYTES = 100e6, OPS_PER_BYTE = 100, MOST = 1e14;

/* In no unit: it only says how groups compare. */
static int64_t estimate(const struct group *group)
{
    struct case_work work = shape_work(&group->shape);
    double bytes = FIXED_BYTES + work.read_bytes + work.write_bytes;
    int run = 0;
    for (int i = 0; i < ARITHMETICS; i++)
        bytes += work.ops[i] / OPS_PER_BYTE;
    for (int i = 0; i < group->variant_count; i++)
        run += group->skip[i][0] == '\0';
    return (int64_t)(bytes < MOST ? bytes : MOST) * run;
}

/* Estimates, and in their place the costs that are known; what is not known is scaled to them. */
static void weigh(const struct plan *plan, const int64_t *cost_us, int64_t *weight)
{
    double known_us = 0, estimated = 0;
    for (int i = 0; i < plan->count; i++) {
        weight[i] = estimate(&plan->groups[i]);
        if (!cost_us || cost_us[i] < 0 || weight[i] == 0) continue;
        known_us += (double)cost_us[i];
        estimated += (double)weight[i];
    }
    if (estimated == 0) return;
    for (int i = 0; i < plan->count; i++)
        weight[i] =
            cost_us[i] >= 0 ? cost_us[i] : (int64_t)((double)weight[i] * (known_us / estimated));
}

struct piece {
    int64_t weight;
    int group;
};

static int heaviest_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static int lightest(const int64_t *load, int shares)
{
    int least = 0;
    for (int i = 1; i < shares; i++)
        if (load[i] < load[least]) least = i;
    return least;
}

int plan_cut(const struct plan *plan, int shares, const int64_t *cost_us, int *share)
{
    size_t count = (size_t)plan->count + 1;
    int64_t *weight = calloc(count, sizeof *weight), *load = calloc((size_t)shares, sizeof *load);
    struct piece *piece = calloc(count, sizeof *piece);
    int status = weight && load && piece ? 0 : assay_error("out of memory for %d shares", shares);
    if (status == 0) weigh(plan, cost_us, weight);
    for (int i = 0; status == 0 && i < plan->count; i++)
        piece[i] = (struct piece){weight[i], i};
    if (status == 0) qsort(piece, (size_t)plan->count, sizeof *piece, heaviest_first);
    for (int i = 0; status == 0 && i < plan->count; i++) {
        int to = lightest(load, shares);
        load[to] += piece[i].weight;
        share[piece[i].group] = to + 1;
    }
    free(weight);
    free(load);
    free(piece);
    return status;
}

void plan_keep(struct plan *plan, const int *share, int index)
{
    int kept = 0;
    for (int i = 0; i < plan->count; i++) {
        if (share[i] != index) continue;
        if (kept != i) plan->groups[kept] = plan->groups[i];
        kept++;
    }
    plan->count = kept;
}
