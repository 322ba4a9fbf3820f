/*
 * model_wgmma_cuda.c - a step's product on Hopper's tensor cores (linear_wgmma.cuh), after a
 * separate layernorm where one is due. It adds no residual, so it serves qkv, fc and head.
 */
#include "model_operands.h"

const char *model_wgmma_refused(const struct model_step *step)
{
    if (step->precision == GPT_FP32) return "tf32, bf16 and fp16 only";
    if (step->residual) return "adds no residual";
    if (step->k % (step->precision == GPT_TF32 ? 4 : 8)) return "rows do not start on 16 bytes";
    if ((!step->scale && step->ldx != step->k) || step->ldy != step->n) return "rows are apart";
    return assay_card()->arch_specific ? NULL : "Hopper only";
}

/* The tensor maps are arguments of the launch, so nothing needs to be kept. */
int model_wgmma_enqueue(const struct model_step *step, void *normed, void *stream)
{
    if (step->scale && model_norm(step, normed, stream)) return -1;
    const struct linear_operands operands = model_operands(step, normed);
    struct linear_wgmma *product;
    int status = linear_wgmma_init(&product, &operands, (enum gpt_precision)step->precision);
    if (status == 0) status = linear_wgmma_enqueue(product, stream);
    linear_wgmma_release(product);
    return status;
}
