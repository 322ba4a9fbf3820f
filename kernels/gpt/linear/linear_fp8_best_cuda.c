/* linear_fp8_best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"

CUDA_BEST(linear_fp8, "naive", "swapped", "wgmma", "mma");
