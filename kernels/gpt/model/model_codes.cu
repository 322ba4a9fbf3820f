/*
 * model_codes.cu - weights as codes (model_codes.h) to bf16 in setup, for kernels that read bf16.
 * A thread per block of eight weights; the product with a factor is exact.
 */
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/gpt.cuh"
#include "model_codes.h"
#include "model_cuda.h"

enum { THREADS = 256, POINTS_BYTES = MODEL_CODE_BLOCK << 16 };

struct coded {
    struct lut_geometry geometry;
    struct lut_codes codes;
    const float *factor; /* of the first layer */
    int64_t n;
};

static __global__ void __launch_bounds__(THREADS)
    decode(struct coded coded, const int8_t *__restrict__ points, uint16_t *__restrict__ out)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, k = coded.geometry.k;
    int64_t row = at / coded.geometry.blocks, block = at % coded.geometry.blocks;
    if (row >= coded.geometry.columns) return;
    const int8_t *fine = points + 8LL * lut_read(&coded.codes, row, 2 * block);
    const int8_t *coarse = points + 8LL * lut_read(&coded.codes, row, 2 * block + 1);
    float factor = coded.factor[row / coded.n * MODEL_CODE_PRODUCTS];
    for (int i = 0; i < MODEL_CODE_BLOCK && MODEL_CODE_BLOCK * block + i < k; i++)
        out[row * k + MODEL_CODE_BLOCK * block + i] =
            bf16_of(factor * (float)(fine[i] + MODEL_CODE_Q * coarse[i]));
}

static int enqueue_decode(const struct model *model, void *const buffer[],
                          enum model_product product, const int8_t *points, void *out, void *stream)
{
    const struct model_matrix matrix = model_matrix(model, product);
    struct coded coded = {};
    coded.geometry = model_code_geometry(model, product);
    coded.codes = lut_codes(&coded.geometry, buffer[matrix.buffer], coded.geometry.columns);
    coded.factor = (const float *)buffer[MODEL_FACTOR] + product;
    coded.n = matrix.n;
    unsigned blocks = gpt_blocks(coded.geometry.columns * coded.geometry.blocks, THREADS);
    decode<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(coded, points, (uint16_t *)out);
    return assay_launched();
}

/* Weights begin on 256 bytes. */
static int64_t bytes_of(const struct model *model, enum model_product product)
{
    const struct model_matrix matrix = model_matrix(model, product);
    return (model->layers * matrix.n * matrix.k * 2 + 255) / 256 * 256;
}

static int decode_all(struct model_run *run, const int8_t *points, void *stream)
{
    char *to = (char *)run->decoded;
    for (int p = 0; p < MODEL_CODE_PRODUCTS; p++) {
        enum model_product product = (enum model_product)p;
        if (enqueue_decode(&run->model, run->buffer, product, points, to, stream) < 0) return -1;
        run->own[model_matrix(&run->model, product).buffer] = to;
        to += bytes_of(&run->model, product);
    }
    return assay_cuda(cudaStreamSynchronize((cudaStream_t)stream), "decoding weights");
}

int model_run_decode(struct model_run *run, struct assay_call *call)
{
    const struct codebook *codebook = model_codebook();
    int8_t *points = NULL;
    if (!codebook) return -1;
    memcpy(run->own, call->buffer, sizeof run->own);
    for (int p = 0; p < MODEL_CODE_PRODUCTS; p++)
        run->decoded_bytes += bytes_of(&run->model, (enum model_product)p);
    int status = device_memory(call, &run->decoded, run->decoded_bytes, "decoded weights");
    if (status) return status;
    status = assay_cuda(cudaMalloc((void **)&points, POINTS_BYTES), "codewords");
    if (status == 0) status = device_upload(points, codebook->left, POINTS_BYTES, "codewords");
    if (status == 0) status = decode_all(run, points, call->stream);
    if (status == 0) run->buffer = run->own;
    cudaFree(points);
    return status;
}

int model_run_forget(struct model_run *run, struct assay_call *call)
{
    if (!run->decoded) return 0;
    if (assay_cuda(cudaStreamSynchronize((cudaStream_t)call->stream), "the context") < 0) return -1;
    cudaFree(run->decoded);
    run->decoded = NULL;
    call->workspace_bytes -= run->decoded_bytes;
    return 0;
}
