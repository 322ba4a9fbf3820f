/* tensor_map_cuda.c - see tensor_map.h. CUDA driver API, "Tensor Map Object Management". */
#include <cuda_runtime_api.h>
#include <stddef.h>

#include "assay.h"
#include "tensor_map.h"

enum { BOX_BYTES = 128, ENCODE_VERSION = 12000 };

typedef CUresult encode_function(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                 void *base, const cuuint64_t *sizes, const cuuint64_t *strides,
                                 const cuuint32_t *box, const cuuint32_t *element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill outside);

/* Looked up once, because each product that is enqueued makes its maps. NULL with assay_error if
 * the driver is too old. */
static encode_function *encode_find(void)
{
    static void *found;
    if (found) return (encode_function *)found;
    const char *name = "cuTensorMapEncodeTiled";
    enum cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &found, ENCODE_VERSION, cudaEnableDefault, &answer);
#else
    cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &answer);
#endif
    if (error == cudaSuccess && answer == cudaDriverEntryPointSuccess && found)
        return (encode_function *)found;
    found = NULL;
    assay_error("%s: %s", name,
                error == cudaSuccess ? "the driver has none" : cudaGetErrorString(error));
    return NULL;
}

/* What is the same for all maps here. Memory is asked into L2 by lines of 128 bytes: by 256 bytes,
 * boxes of rows that begin between sectors (3000 numbers of bf16) took up to 13 % longer, and no
 * others took less. */
static int make_map(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, const void *base,
                    const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box)
{
    encode_function *encode = encode_find();
    if (!encode) return -1;
    const cuuint32_t every[] = {1, 1, 1, 1};
    CUresult result = encode(map, type, rank, (void *)base, sizes, strides, box, every,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return 0;
    return assay_error("tensor map of %llu x %llu: driver error %d",
                       (unsigned long long)sizes[rank == 2 ? 1 : 2], (unsigned long long)sizes[0],
                       (int)result);
}

/* By the bytes of an element. */
static const CUtensorMapDataType types[] = {[1] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                            [2] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                            [4] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32};

int tensor_map_init(CUtensorMap *map, const struct tensor_map_matrix *matrix, int box_rows)
{
    const cuuint64_t sizes[] = {(cuuint64_t)matrix->columns, (cuuint64_t)matrix->rows};
    const cuuint64_t strides[] = {(cuuint64_t)(matrix->columns * matrix->element_bytes)};
    const cuuint32_t box[] = {(cuuint32_t)(BOX_BYTES / matrix->element_bytes),
                              (cuuint32_t)box_rows};
    return make_map(map, types[matrix->element_bytes], 2, matrix->base, sizes, strides, box);
}

int tensor_map_init_heads(CUtensorMap *map, const struct tensor_map_heads *heads, int box_tokens)
{
    const cuuint64_t bytes = (cuuint64_t)heads->element_bytes;
    const cuuint64_t token = bytes * (cuuint64_t)heads->stride;
    const cuuint64_t sizes[] = {(cuuint64_t)heads->size, (cuuint64_t)heads->heads,
                                (cuuint64_t)heads->tokens, (cuuint64_t)heads->sequences};
    const cuuint64_t strides[] = {bytes * (cuuint64_t)heads->size, token, token * sizes[2]};
    const cuuint32_t box[] = {(cuuint32_t)(BOX_BYTES / bytes), 1, (cuuint32_t)box_tokens, 1};
    return make_map(map, types[heads->element_bytes], 4, heads->base, sizes, strides, box);
}
