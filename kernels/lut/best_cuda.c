/* best_cuda.c - the fastest of our kernels for a shape, of operations on codes (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"

CUDA_BEST(lut_matmul, NULL, "decode_imma_staged", "decode_imma", "decode_gemv_bits", "decode_gemv",
          "lookup_mma", "lookup_mma_cached", "decode_mma", "decode_dp4a", "table_gemv", "tiled",
          "smem_i8", "smem_i16", "smem_f32", "global");

CUDA_BEST(quantized_linear, "encode_smem_i8", "encode_imma_staged", "encode_imma", "encode_gemv",
          "encode_lookup", "encode_lookup_cached", "encode_mma", "encode_dp4a");

CUDA_BEST(quantized_mlp, "encode_smem_i8", "encode_gemv", "encode_dp4a");

CUDA_BEST(weight_only_linear, "naive", "lookup_mma", "mma", "wgmma", "mma_cached",
          "lookup_mma_cached", "decode_cublaslt");
