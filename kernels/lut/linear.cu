/*
 * linear.cu - quantized_linear on the GPU: one kernel encodes the activations to codes in memory,
 * then a variant of lut_matmul multiplies.
 * linear.cuh has both; operations and bytes are those of the product, and of encoding as there.
 */
#include "linear.cuh"

static constexpr struct assay_variant by_table = encoded<&lut_smem_i8>(
    "quantized_linear", "encode_smem_i8", "encode, then the int8 table in shared memory");
ASSAY_REGISTER_VARIANT(by_table);

static constexpr struct assay_variant by_dp4a =
    encoded<&lut_decode_dp4a>("quantized_linear", "encode_dp4a", "encode, then decode_dp4a");
ASSAY_REGISTER_VARIANT(by_dp4a);

static constexpr struct assay_variant by_imma =
    encoded_hopper<&lut_decode_imma>("quantized_linear", "encode_imma", "encode, then decode_imma");
ASSAY_REGISTER_VARIANT(by_imma);

static constexpr struct assay_variant by_staged = encoded_hopper<&lut_decode_imma_staged>(
    "quantized_linear", "encode_imma_staged",
    "encode, then decode_imma_staged: any code that fits int8");
ASSAY_REGISTER_VARIANT(by_staged);

static constexpr struct assay_variant by_mma = encoded<&lut_decode_mma>(
    "quantized_linear", "encode_mma", "encode, then decode_mma: any code that fits int8", 80);
ASSAY_REGISTER_VARIANT(by_mma);

static constexpr struct assay_variant by_gemv = encoded<&lut_decode_gemv>(
    "quantized_linear", "encode_gemv", "encode, then decode_gemv, then beta", 80);
ASSAY_REGISTER_VARIANT(by_gemv);
