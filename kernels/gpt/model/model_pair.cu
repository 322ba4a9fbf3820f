/*
 * model_pair.cu - which steps go by the kernels of linear_pair.cuh, and their launch. Other than a
 * library's, these kernels begin while the one before still runs, and fetch weights meanwhile.
 */
#include <stdio.h>

#include "kernels/gpt/linear/linear_pair.h"
#include "model_operands.h"
#include "model_pair.h"

/* How many of all tiles are tried for a step. */
enum { PAIR_TRIED = 8 };

static struct linear_pair_how how_of(int pair)
{
    return {pair / LINEAR_PAIR_SHARES, (enum linear_pair_share)(pair % LINEAR_PAIR_SHARES)};
}

int model_pairs(void)
{
    return LINEAR_PAIR_TILES * LINEAR_PAIR_SHARES;
}

void model_pair_name(int pair, char *out, size_t size)
{
    static const char *const shared[LINEAR_PAIR_SHARES] = {"",   "w",    "x",   "w4",
                                                           "x4", "w4x2", "w2x4"};
    const struct linear_pair_how how = how_of(pair);
    int rows, columns;
    linear_pair_tile(how.tile, &rows, &columns);
    (void)snprintf(out, size, "p%dx%d%s", rows, columns, shared[how.share]);
}

const char *model_pair_refused(const struct model_step *step, int pair)
{
    if (gpt_bytes(step->precision) != 2) return "bf16 and fp16 only";
    if (step->residual && step->gelu) return "a residual or gelu";
    if ((!step->scale && step->ldx != step->k) || step->ldy != step->n ||
        (step->residual && step->ldr != step->n))
        return "rows are apart";
    if (!model_on(step->x, 16) || !model_on(step->w, 16) || !model_on(step->y, 16) ||
        !model_on(step->bias, 4) || !model_on(step->residual, 4))
        return "rows that do not start on 16 bytes";
    if (!assay_card()->arch_specific) return "Hopper only";
    struct linear_pair_how hows[PAIR_TRIED];
    const struct linear_operands operands = model_operands(step, NULL);
    const int count =
        linear_pair_order(hows, PAIR_TRIED, &operands, (enum gpt_precision)step->precision);
    for (int i = 0; i < count; i++)
        if (hows[i].tile == how_of(pair).tile && hows[i].share == how_of(pair).share) return NULL;
    return "other tiles suit the shape better";
}

/* The tensor maps are arguments of the launch, so nothing needs to be kept. */
int model_pair_enqueue(const struct model_step *step, int pair, void *normed, void *stream)
{
    const struct linear_pair_how how = how_of(pair);
    const struct linear_operands operands = model_operands(step, normed);
    struct linear_pair product;
    if (step->scale && model_norm(step, normed, stream)) return -1;
    if (linear_pair_make(&product, &how, &operands, (enum gpt_precision)step->precision) < 0)
        return -1;
    linear_pair_make_step(&product, step->residual);
    return linear_pair_enqueue(&product, (cudaStream_t)stream);
}
