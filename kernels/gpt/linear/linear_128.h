/*
 * linear_128.h - products in tiles of 128 x 128 outputs by wgmma, for linear_128.cu, which chooses
 * between them and its own by mma.sync. Operands and epilogue as in linear_products.h.
 */
#pragma once

#include "linear_products.h"

/* Where assay_card() has arch_specific; in tf32 and fp16 only for w that is not transposed. allow
 * once in setup. */
int linear_128_wgmma_allow(void);
int linear_128_wgmma_bf16(const struct linear_operands *operands, cudaStream_t stream);
int linear_128_wgmma_fp16(const struct linear_operands *operands, cudaStream_t stream);
int linear_128_wgmma_tf32(const struct linear_operands *operands, cudaStream_t stream);
