/*
 * linear_products.h - the own products that other layers are built of too: each
 * enqueues y = x w^T + b of the operands, a bias of NULL being none.
 */
#ifndef LINEAR_PRODUCTS_H
#define LINEAR_PRODUCTS_H

#include "linear_steps.h"

/* What finishes an output, behind the bias. */
enum linear_finish { LINEAR_PLAIN, LINEAR_GELU };

/* fp32, tiles of 32 x 32. */
int linear_smem32(const struct linear_operands *operands, cudaStream_t stream);

/* Tensor cores, tiles of 128 x 128; k a multiple of 4 (tf32) or 8 (bf16). The first of
 * each pair is called once, in setup. */
int linear_tf32_128_allow(void);
int linear_tf32_128(const struct linear_operands *operands, enum linear_finish finish,
                    cudaStream_t stream);
int linear_bf16_128_allow(void);
int linear_bf16_128(const struct linear_operands *operands, enum linear_finish finish,
                    cudaStream_t stream);

#endif
