/* best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"

CUDA_BEST(rope, NULL, "heads1", "heads2", "heads4", "scalar");
