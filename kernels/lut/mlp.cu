/*
 * mlp.cu - quantized_mlp on the GPU: linear.cuh layer after layer, what lies between two layers in
 * device memory.
 *
 * Operations: 2 * rows * width^2 per layer. Bytes: those of the operation, and 8 per entry of each
 * layer but the last. Clipping is part of the next layer's encoding. Two kernels per layer (three
 * with gemv): with few rows the launches are most of the time.
 */
#include "linear.cuh"

static __global__ void __launch_bounds__(LINEAR_THREADS)
    clip(float *values, int64_t count, float limit)
{
    int64_t at = (int64_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    if (at < count) values[at] = fminf(fmaxf(values[at], -limit), limit);
}

extern "C" int mlp_clip(float *values, int64_t count, float limit, void *stream)
{
    unsigned blocks = (unsigned)((count + LINEAR_THREADS - 1) / LINEAR_THREADS);
    clip<<<blocks, LINEAR_THREADS, 0, (cudaStream_t)stream>>>(values, count, limit);
    return assay_launched();
}

static constexpr struct assay_variant by_table = encoded<&lut_smem_i8>(
    "quantized_mlp", "encode_smem_i8", "each layer: encode, then the int8 table in shared memory");
ASSAY_REGISTER_VARIANT(by_table);

static constexpr struct assay_variant by_dp4a = encoded<&lut_decode_dp4a>(
    "quantized_mlp", "encode_dp4a", "each layer: encode, then decode_dp4a");
ASSAY_REGISTER_VARIANT(by_dp4a);

static constexpr struct assay_variant by_gemv = encoded<&lut_decode_gemv>(
    "quantized_mlp", "encode_gemv", "each layer: encode, then decode_gemv, then beta", 80);
ASSAY_REGISTER_VARIANT(by_gemv);
