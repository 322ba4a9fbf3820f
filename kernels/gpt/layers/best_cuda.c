/* best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"

/* The products of other variants are among those that the first tries. fused_recompute computes the
 * middle anew for each tile, which wins nowhere. */
CUDA_BEST(mlp, NULL, "linear_finish_gelu_best", "fused_rowown");

CUDA_BEST(layernorm, NULL, "vectors_in_registers", "rows");

CUDA_BEST(embedding, NULL, "vec4", "fused");
