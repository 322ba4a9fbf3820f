/*
 * linear_split.cu - the product in fp32 on Hopper's tensor cores: x and w are split into parts in
 * bf16 (linear_split.h), and six products of parts are added up by linear_wgmma.cuh.
 *
 * Why it is as exact as fp32. What is left out is below 2^-23 of each product, and has a random
 * sign. Tensor cores cut sums off where fp32 rounds them; so they add only 64 products at a time,
 * those of the smaller parts first, and what they have is added to the sums in fp32. A sum of k
 * products then has k / 64 roundings.
 *
 * Why it is fast. Tensor cores make 16 times as many products in bf16 as the CUDA cores do in fp32:
 * a sixth of that is 165 TFLOP/s on an H200, where the CUDA cores have 67.
 *
 * Operations: 2 m n k in fp32. Bytes: x and w in fp32 once; their parts, 6 per number, written
 * once, and read from L2 as linear_wgmma.cuh says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/device_memory.h"
#include "linear.cuh"
#include "linear_split.h"
#include "linear_wgmma_kernels.h"

enum { SPLIT_THREADS = 256, SPLIT_CHUNK = 8 /* numbers: 16 bytes of a part */ };

/* ------------------------------------------------------------------- parts -- */

/* The bf16 nearest to x; where that is beyond the largest, the one before it. */
static __device__ __forceinline__ float nearest(float x)
{
    const float rounded = __uint_as_float((uint32_t)bf16_of(x) << 16);
    return isinf(rounded) ? __uint_as_float(__float_as_uint(x) & 0xffff0000u) : rounded;
}

/* A matrix in fp32, [rows, k], and where its parts go, [3][rows][chunks] of eight. */
struct split_matrix {
    const float *from;
    uint4 *to;
    int64_t chunks_of_all; /* rows times chunks */
};

template <bool ALIGNED>
static __device__ __forceinline__ void split_chunk(const struct split_matrix &matrix, int64_t index,
                                                   int chunks, int k)
{
    const int64_t row = index / chunks;
    const int first = (int)(index - row * chunks) * SPLIT_CHUNK;
    const float *from = matrix.from + row * k + first;
    float x[SPLIT_CHUNK];
    if (ALIGNED) {
        *(float4 *)x = __ldg((const float4 *)from);
        *(float4 *)(x + 4) =
            first + 4 < k ? __ldg((const float4 *)from + 1) : make_float4(0, 0, 0, 0);
    } else {
#pragma unroll
        for (int i = 0; i < SPLIT_CHUNK; i++)
            x[i] = first + i < k ? __ldg(from + i) : 0.0f;
    }
#pragma unroll
    for (int part = 0; part < LINEAR_SPLIT_PARTS; part++) {
        uint32_t word[4];
#pragma unroll
        for (int i = 0; i < SPLIT_CHUNK; i += 2) {
            const float low = nearest(x[i]), high = nearest(x[i + 1]);
            word[i / 2] = __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
            x[i] -= low, x[i + 1] -= high;
        }
        matrix.to[part * matrix.chunks_of_all + index] =
            make_uint4(word[0], word[1], word[2], word[3]);
    }
}

/* ALIGNED: rows are whole 16 bytes. */
template <bool ALIGNED>
static __global__ void __launch_bounds__(SPLIT_THREADS)
    linear_split_kernel(const struct split_matrix x, const struct split_matrix w, int chunks, int k)
{
    const int64_t index = (int64_t)blockIdx.x * SPLIT_THREADS + threadIdx.x;
    if (index < x.chunks_of_all)
        split_chunk<ALIGNED>(x, index, chunks, k);
    else if (index - x.chunks_of_all < w.chunks_of_all)
        split_chunk<ALIGNED>(w, index - x.chunks_of_all, chunks, k);
}

int linear_split_enqueue(const struct linear_split *split, cudaStream_t stream)
{
    const struct linear_operands *from = &split->operands, *to = &split->parts;
    const int chunks = (int)(to->k / SPLIT_CHUNK);
    const struct split_matrix x = {(const float *)from->x, (uint4 *)to->x, from->m * chunks};
    const struct split_matrix w = {(const float *)from->w, (uint4 *)to->w, from->n * chunks};
    auto kernel = from->k % 4 == 0 ? linear_split_kernel<true> : linear_split_kernel<false>;
    kernel<<<gpt_blocks(x.chunks_of_all + w.chunks_of_all, SPLIT_THREADS), SPLIT_THREADS, 0,
             stream>>>(x, w, chunks, (int)from->k);
    return assay_launched();
}

/* Bytes of the parts of a row, and of those of x, in whole 256. */
static int64_t row_bytes(const struct linear_operands *operands)
{
    const int64_t chunks = (operands->k + SPLIT_CHUNK - 1) / SPLIT_CHUNK;
    return LINEAR_SPLIT_PARTS * chunks * (int64_t)sizeof(uint4);
}

static int64_t x_bytes(const struct linear_operands *operands)
{
    return (operands->m * row_bytes(operands) + 255) / 256 * 256;
}

int64_t linear_split_bytes(const struct linear_operands *operands)
{
    return x_bytes(operands) + operands->n * row_bytes(operands);
}

struct linear_split linear_split_in(void *memory, const struct linear_operands *operands)
{
    struct linear_split split = {*operands, *operands, memory};
    split.parts.x = memory;
    split.parts.w = (char *)memory + x_bytes(operands);
    split.parts.k = (operands->k + SPLIT_CHUNK - 1) / SPLIT_CHUNK * SPLIT_CHUNK;
    split.parts.leading = split.parts.k;
    return split;
}

int linear_split_init(struct linear_split *split, const struct linear_operands *operands,
                      struct assay_call *call)
{
    void *memory = NULL;
    int status =
        device_memory(call, &memory, linear_split_bytes(operands), "the parts of operands in fp32");
    *split = linear_split_in(memory, operands);
    return status;
}

void linear_split_release(struct linear_split *split)
{
    cudaFree(split->memory);
}

/* ----------------------------------------------------------------- variant -- */

struct state {
    struct linear_split split;
    struct tile_parts parts;
    struct linear_wgmma *product;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    if (shape->value[LINEAR_K] < LINEAR_SPLIT_LEAST) return "k is less than 64";
    return linear_only<GPT_FP32>(shape);
}

/* Tiles of 128 x 128, of 64 columns where these leave half of the device idle, shared evenly. */
static int make(struct state *state, struct assay_call *call)
{
    const struct lwg_kernels kernels = lwg_kernels_fp32();
    const struct linear_operands *operands = &state->split.parts;
    const struct lwg_how how = {LINEAR_EVENLY, &state->parts};
    const int64_t tiles = (int64_t)gpt_blocks(operands->m, 128) * gpt_blocks(operands->n, 128);
    const struct lwg_kernel *kernel =
        &kernels.kernel[2 * tiles > assay_card()->multiprocessors ? 0 : kernels.count - 1];
    lwg_kernel_name(kernel, call->note, sizeof call->note);
    return linear_wgmma_make(&state->product, kernel, operands, &how);
}

static int setup(struct assay_call *call)
{
    struct state *state = (struct state *)calloc(1, sizeof *state);
    struct linear_operands operands;
    call->state = state;
    if (!state) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = linear_split_init(&state->split, &operands, call);
    if (status == 0) status = tile_parts_init(&state->parts, call);
    return status ? status : make(state, call);
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (linear_split_enqueue(&state->split, stream) < 0) return -1;
    if (linear_wgmma_enqueue(state->product, stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (!state) return;
    linear_wgmma_release(state->product);
    linear_split_release(&state->split);
    cudaFree(state->parts.sums);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "bf16x6",
    .summary = "fp32 as three parts in bf16, six products of parts on Hopper's tensor cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
