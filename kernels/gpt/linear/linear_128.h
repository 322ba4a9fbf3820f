/*
 * linear_128.h - the two implementations of products in tiles of 128 x 128 outputs, with mma.sync
 * and with wgmma; linear_128.cu chooses. Operands and epilogue as in linear_products.h.
 */
#pragma once

#include "linear_products.h"

/* mma.sync (linear_128_mma.cu); allow once in setup. */
int linear_128_mma_allow(void);
int linear_128_mma_bf16(const struct linear_operands *operands, enum linear_finish finish,
                        cudaStream_t stream);
int linear_128_mma_tf32(const struct linear_operands *operands, enum linear_finish finish,
                        cudaStream_t stream);

/* wgmma (linear_128_wgmma.cu), where assay_card() has arch_specific; in tf32 only for w that is not
 * transposed. allow once in setup. */
int linear_128_wgmma_allow(void);
int linear_128_wgmma_bf16(const struct linear_operands *operands, enum linear_finish finish,
                          cudaStream_t stream);
int linear_128_wgmma_tf32(const struct linear_operands *operands, enum linear_finish finish,
                          cudaStream_t stream);
