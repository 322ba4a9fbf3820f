/*
 * ampere.cuh - code for sm_75 lacks cp.async, the tensor cores' tf32, bf16 and larger int8
 * products, and sums over a warp in one instruction. Bodies that have them are guarded by
 * AMPERE_CODE. Without it they go another way, or trap: then the variants say so
 * (assay_variant.min_sm), and the trap is never met.
 */
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define AMPERE_CODE 1
#endif
