/*
 * model_split.cu - see model_split.h. Each launch splits x and w of a product, behind a layernorm
 * kernel where one is due, and multiplies the parts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/gpt.cuh"
#include "kernels/gpt/linear/linear_split.h"
#include "kernels/gpt/linear/linear_wgmma_kernels.h"
#include "model_operands.h"
#include "model_split.h"

struct model_split {
    void *parts;
    struct tile_parts sums;
};

enum {
    WAYS = 3, /* whole tiles, shared evenly, or the rest alike */
    TILE_ROWS = 128,
    STAGE = 64,     /* of k */
    MOST_PARTS = 8, /* of a tile that is divided alike */
};

static const struct lwg_kernel *kernel_of(int number)
{
    return &lwg_kernels_fp32().kernel[number / WAYS];
}

static enum linear_parts_how how_of(int number)
{
    return (enum linear_parts_how)(number % WAYS);
}

int model_splits(void)
{
    return lwg_kernels_fp32().count * WAYS;
}

void model_split_name(int number, char *out, size_t size)
{
    static const char *const ways[WAYS] = {"", "e", "a"};
    const struct lwg_kernel *kernel = kernel_of(number);
    (void)snprintf(out, size, "s%dx%d%s%s", (int)TILE_ROWS, kernel->columns,
                   kernel->cluster > 1 ? "w" : "", ways[how_of(number)]);
}

/* Of the largest of a model's products. */
static int64_t parts_bytes(const struct model *model)
{
    const int64_t c = model->channels;
    struct linear_operands widest = {};
    widest.m = model->rows;
    widest.n = model->vocabulary > 4 * c ? model->vocabulary : 4 * c, widest.k = c;
    struct linear_operands longest = widest;
    longest.n = c, longest.k = 4 * c;
    const int64_t a = linear_split_bytes(&widest), b = linear_split_bytes(&longest);
    return a > b ? a : b;
}

int model_split_init(struct model_split **made, const struct model *model, struct assay_call *call)
{
    *made = NULL;
    if (model->precision != GPT_FP32 || !assay_card()->arch_specific) return 0;
    struct model_split *split = (struct model_split *)calloc(1, sizeof *split);
    *made = split;
    if (!split) return assay_error("out of memory");
    int status =
        device_memory(call, &split->parts, parts_bytes(model), "the parts of a product in fp32");
    if (status == 0) status = tile_parts_init(&split->sums, call);
    if (status != ASSAY_SKIP) return status;
    model_split_release(split); /* the other ways are left */
    *made = NULL;
    return 0;
}

void model_split_release(struct model_split *split)
{
    if (!split) return;
    cudaFree(split->parts);
    cudaFree(split->sums.sums);
    free(split);
}

const char *model_split_refused(const struct model_split *split, const struct model_step *step,
                                int number)
{
    if (!split || step->precision != GPT_FP32) return "Hopper and fp32 only";
    if (step->k < LINEAR_SPLIT_LEAST) return "k is less than 64";
    if (step->m <= MODEL_GEMV_ROWS) return "few rows";
    if ((!step->scale && step->ldx != step->k) || step->ldy != step->n ||
        (step->residual && step->ldr != step->n))
        return "rows are apart";
    if (step->residual && step->n % 2) return "an odd n with a residual";
    if (!model_on(step->x, 16) || !model_on(step->w, 16) || !model_on(step->y, 16) ||
        !model_on(step->residual, 8))
        return "rows that do not start on 16 bytes";
    const struct lwg_kernel *kernel = kernel_of(number);
    const int64_t tiles = gpt_blocks(step->m, TILE_ROWS * kernel->cluster) *
                          (int64_t)gpt_blocks(step->n, kernel->columns);
    const int fit = assay_card()->multiprocessors / kernel->cluster;
    const struct linear_division division = linear_division_of(
        how_of(number), (int)tiles, (int)gpt_blocks(step->k, STAGE), fit, MOST_PARTS);
    return how_of(number) == LINEAR_WHOLE || division.split > 0 ? NULL : "no tile to divide";
}

/* The tensor maps are arguments of the launch, so nothing needs to be kept. */
int model_split_enqueue(const struct model_split *split, const struct model_step *step, int number,
                        void *normed, void *stream)
{
    if (step->scale && model_norm(step, normed, stream)) return -1;
    const struct linear_operands operands = model_operands(step, normed);
    const struct linear_split parts = linear_split_in(split->parts, &operands);
    if (linear_split_enqueue(&parts, (cudaStream_t)stream) < 0) return -1;
    const struct lwg_how how = {how_of(number), &split->sums};
    struct linear_wgmma *product;
    int status = linear_wgmma_make(&product, kernel_of(number), &parts.parts, &how);
    if (status == 0) {
        linear_wgmma_add(product, (const float *)step->residual);
        status = linear_wgmma_enqueue(product, (cudaStream_t)stream);
    }
    linear_wgmma_release(product);
    return status;
}
