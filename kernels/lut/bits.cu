/*
 * bits.cu - the codes and the table of bits.cuh, made in setup and not timed.
 */
#include <stdlib.h>

#include "bits.cuh"
#include "kernels/cuda/device_memory.h"

enum { PACK_THREADS = 256 };

static __global__ void __launch_bounds__(PACK_THREADS)
    pack_bits(struct lut_geometry geometry, struct lut_codes b, const uint16_t *__restrict__ number,
              int64_t chunks, int64_t words, uint32_t *__restrict__ out)
{
    for (int64_t at = (int64_t)blockIdx.x * PACK_THREADS + threadIdx.x; at < words;
         at += (int64_t)gridDim.x * PACK_THREADS) {
        struct bit_place place = bit_place(at, chunks, geometry.levels);
        uint32_t word = 0;
        for (int half = 0; half < 2; half++) {
            int64_t block = place.block + half, index = 0;
            if (block < geometry.blocks && place.column < geometry.columns)
                index = lut_read(&b, place.column, block * geometry.levels + place.level);
            word |= (uint32_t)number[index] << 16 * half;
        }
        out[at] = word;
    }
}

static int allocate(struct assay_call *call, void **out, int64_t bytes, const char *what)
{
    if (assay_cuda(cudaMalloc(out, (size_t)bytes), what)) return -1;
    call->workspace_bytes += bytes;
    return 0;
}

static int pack(struct assay_call *call, const struct lut_geometry *geometry, int buffer,
                const uint16_t *numbers, struct bit_codes *out)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t chunks = bit_chunks(geometry), words = bit_tiles(geometry) * chunks * BIT_TILE_WORDS;
    int64_t blocks = (words + PACK_THREADS - 1) / PACK_THREADS;
    if (allocate(call, &out->codes, 4 * words, "codes in order")) return -1;
    pack_bits<<<(unsigned)(blocks < 1 << 16 ? blocks : 1 << 16), PACK_THREADS, 0, stream>>>(
        *geometry, lut_codes(geometry, call->buffer[buffer], geometry->columns), numbers, chunks,
        words, (uint32_t *)out->codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

int bit_prepare(struct assay_call *call, const struct lut_geometry *geometry, int buffer,
                struct bit_codes *out)
{
    const struct codebook *codebook = lut_codebook(call->shape);
    uint16_t *host = (uint16_t *)malloc(3 * BIT_TABLE_BYTES), *numbers = NULL;
    if (codebook == NULL || host == NULL) {
        free(host);
        return assay_error("out of host memory for a codebook");
    }
    uint16_t *entries = host + BIT_CODES, *counts = host + 2 * BIT_CODES;
    int status = bit_numbers(codebook->left, host, entries, counts);
    if (status == 0) status = allocate(call, &out->table, BIT_TABLE_BYTES, "table");
    if (status == 0) status = device_upload(out->table, entries, BIT_TABLE_BYTES, "table");
    if (status == 0) status = assay_cuda(cudaMalloc((void **)&numbers, BIT_TABLE_BYTES), "numbers");
    if (status == 0) status = device_upload(numbers, host, BIT_TABLE_BYTES, "table");
    if (status == 0) status = pack(call, geometry, buffer, numbers, out);
    cudaFree(numbers);
    free(host);
    return status;
}

void bit_release(struct bit_codes *codes)
{
    cudaFree(codes->codes);
    cudaFree(codes->table);
}
