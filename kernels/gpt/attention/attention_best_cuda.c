/* attention_best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"

/* naive3 reads the keys from memory for each query, and is taken only where there is no other. */
CUDA_BEST(attention, "naive3", "online_wgmma", "online_bf16", "online_fp16", "online_tf32_wgmma",
          "online_tf32", "online_fp32");

CUDA_BEST(attention_fp8, "naive", "wgmma", "mma");
