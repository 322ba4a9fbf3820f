/*
 * linear_products.h - our products that other layers use too. Each enqueues y = x w^T + b, and all
 * but smem32 and tf32_32 finish it as the operands say; b may be NULL.
 */
#pragma once

#include <cuda_runtime_api.h>

#include "linear_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* fp32, tiles of 32 x 32. */
int linear_smem32(const struct linear_operands *operands, cudaStream_t stream);

/* Few rows of x, at most these, on the CUDA cores: any k, w not transposed, tf32 as fp32. 1 <<
 * log_warps warps divide k of four rows of w; the second says how many such divisions give each
 * warp some of k. */
enum { LINEAR_ROWS_MOST = 64, LINEAR_ROWS_WAYS = 4 };
int linear_rows(const struct linear_operands *operands, enum gpt_precision precision, int log_warps,
                cudaStream_t stream);
int linear_rows_ways(const struct linear_operands *operands, enum gpt_precision precision);

/* tf32 on tensor cores from sm_80 on, tiles of 32 x 32, any shape. */
int linear_tf32_32(const struct linear_operands *operands, cudaStream_t stream);

/* Tensor cores, tiles of 128 x 128; k a multiple of 4 (tf32) or 8 (bf16, fp16). The first is for
 * the shared_bytes of a variant, the second is called once, in setup. */
int64_t linear_128_shared_bytes(const struct assay_shape *shape);
int linear_128_allow(void);
int linear_tf32_128(const struct linear_operands *operands, cudaStream_t stream);
int linear_bf16_128(const struct linear_operands *operands, cudaStream_t stream);
int linear_fp16_128(const struct linear_operands *operands, cudaStream_t stream);

/* Hopper's tensor cores (linear_wgmma.cu), for all but fp32, k as above, w not transposed: a
 * product whose operands keep their addresses. What init makes is to be released, also if it fails.
 */
struct linear_wgmma;
int linear_wgmma_init(struct linear_wgmma **product, const struct linear_operands *operands,
                      enum gpt_precision precision);
int linear_wgmma_enqueue(const struct linear_wgmma *product, cudaStream_t stream);
void linear_wgmma_release(struct linear_wgmma *product);

#ifdef __cplusplus
}
#endif
