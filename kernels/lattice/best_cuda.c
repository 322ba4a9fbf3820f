/* best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"
#include "lattice.h"

CUDA_BEST_MODELLED(lattice_encode, lattice_model_encode, NULL, "lookup", "fused_vec", "tiled",
                   "fused_tpb");

CUDA_BEST_MODELLED(lattice_decode, lattice_model_decode, NULL, "lookup", "fused_vec", "fused_tpb");

CUDA_BEST_MODELLED(lattice_roundtrip, lattice_model_roundtrip, NULL, "closest", "fused_vec",
                   "fused_tpb");
