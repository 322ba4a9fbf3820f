/*
 * model_persistent_codes.cu - codes, table and scales in the order in which `persistent` reads them
 * (model_persistent_codes.cuh); setup.
 */
#include "kernels/cuda/device_memory.h"
#include "model_codes.h"
#include "model_persistent_codes.cuh"

enum { THREADS = 256 };

/* Two blocks of a row, each level 0 and level 1, become their numbers of level 0 and of level 1. */
static __global__ void __launch_bounds__(THREADS)
    pack(const uint2 *__restrict__ codes, const uint16_t *__restrict__ number, int64_t pairs,
         uint2 *__restrict__ out)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= pairs) return;
    const uint2 blocks = codes[at];
    uint32_t fine = number[blocks.x & 0xffff] | (uint32_t)number[blocks.y & 0xffff] << 16;
    uint32_t coarse = number[blocks.x >> 16] | (uint32_t)number[blocks.y >> 16] << 16;
    out[at] = make_uint2(fine, coarse);
}

static __global__ void __launch_bounds__(THREADS)
    reorder(const uint16_t *__restrict__ scale, int64_t count, uint16_t *__restrict__ out)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    out[at / MODEL_CODE_CHUNK * MODEL_CODE_CHUNK +
        persistent_codes::order((int)(at % MODEL_CODE_CHUNK))] = scale[at];
}

static int64_t code_bytes(const struct model *model, enum model_product product)
{
    const struct model_matrix matrix = model_matrix(model, product);
    return model->layers * matrix.n * matrix.k / 2; /* rows are whole chunks, of 32 bytes */
}

/* All codes behind `at`, in the kernel's order. */
static int pack_all(struct persistent_args *args, const struct model *model,
                    struct assay_call *call, const uint16_t *numbers, char *at)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    for (int p = 0; p < MODEL_CODE_PRODUCTS; p++) {
        enum model_product product = (enum model_product)p;
        const void *codes = call->buffer[model_matrix(model, product).buffer];
        int64_t pairs = code_bytes(model, product) / (int64_t)sizeof(uint2);
        pack<<<gpt_blocks(pairs, THREADS), THREADS, 0, stream>>>((const uint2 *)codes, numbers,
                                                                 pairs, (uint2 *)at);
        if (assay_launched()) return -1;
        args->w[p] = at;
        at += pairs * (int64_t)sizeof(uint2);
    }
    return 0;
}

int model_persistent_codes(struct model_persistent *persistent, const struct model *model,
                           struct assay_call *call)
{
    struct persistent_args *args = &persistent->args;
    const struct weight_constants constants = WEIGHT_CONSTANTS;
    int64_t scales = 2 * model->layers * model->channels, bytes = WEIGHT_TABLE_BYTES + 2 * scales;
    uint16_t *numbers = NULL;
    for (int p = 0; p < MODEL_CODE_PRODUCTS; p++)
        bytes += code_bytes(model, (enum model_product)p);
    int status = device_memory(call, &persistent->codes, bytes, "codes in order");
    if (status) return status;
    char *table = (char *)persistent->codes, *scale = table + WEIGHT_TABLE_BYTES;
    cudaStream_t stream = (cudaStream_t)call->stream;
    status = assay_cuda(cudaMalloc((void **)&numbers, WEIGHT_TABLE_BYTES), "numbers");
    if (status == 0) status = weight_upload(model_codebook(), table, numbers);
    if (status == 0) status = pack_all(args, model, call, numbers, scale + 2 * scales);
    if (status == 0) {
        reorder<<<gpt_blocks(scales, THREADS), THREADS, 0, stream>>>(
            (const uint16_t *)call->buffer[MODEL_SCALE], scales, (uint16_t *)scale);
        status = assay_launched();
    }
    if (status == 0) status = assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
    cudaFree(numbers);
    args->constants = constants;
    args->table = table, args->scale = scale;
    args->factor = (const float *)call->buffer[MODEL_FACTOR];
    return status;
}
