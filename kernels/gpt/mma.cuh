/*
 * mma.cuh - tensor cores by mma.sync, matrices from shared memory by ldmatrix, and copies to shared
 * memory by cp.async. PTX ISA 7.0, compute capability 8.0 and newer.
 */
#pragma once

#include "gpt.cuh"
#include "kernels/cuda/ampere.cuh"
#include "mma_layout.h"

static __device__ __forceinline__ uint32_t mma_shared(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* Copy 16 bytes to shared memory, or write zeros if `valid` is false. Nothing is read then, but
 * `from` must still be an address in global memory. */
static __device__ __forceinline__ void mma_copy(uint32_t to, const void *from, bool valid)
{
#ifdef AMPERE_CODE
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(valid ? 16 : 0)
                 : "memory");
#else
    __trap();
#endif
}

static __device__ __forceinline__ void mma_copy_commit(void)
{
#ifdef AMPERE_CODE
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    __trap();
#endif
}

/* Wait until at most PENDING of this thread's groups of copies are unfinished. */
template <int PENDING> static __device__ __forceinline__ void mma_copy_wait(void)
{
#ifdef AMPERE_CODE
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#else
    __trap();
#endif
}

static __device__ __forceinline__ void mma_load(uint32_t r[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

static __device__ __forceinline__ void mma_load_trans(uint32_t r[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

static __device__ __forceinline__ uint32_t mma_load_word(uint32_t at)
{
    uint32_t word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
    return word;
}

/* c += a b: one step of k on a 16 x 8 tile. The tag selects the type of the operands. */
#ifdef AMPERE_CODE
#define MMA_STEP(TAG, SHAPE)                                                                       \
    static __device__ __forceinline__ void mma_step(TAG, float c[4], const uint32_t a[4],          \
                                                    uint32_t b0, uint32_t b1)                      \
    {                                                                                              \
        asm("mma.sync.aligned." SHAPE                                                              \
            " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                     \
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                       \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                       \
    }
#else
#define MMA_STEP(TAG, SHAPE)                                                                       \
    static __device__ __forceinline__ void mma_step(TAG, float[4], const uint32_t[4], uint32_t,    \
                                                    uint32_t)                                      \
    {                                                                                              \
        __trap();                                                                                  \
    }
#endif
MMA_STEP(uint16_t, "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA_STEP(fp16_t, "m16n8k16.row.col.f32.f16.f16.f32")
MMA_STEP(float, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef MMA_STEP
