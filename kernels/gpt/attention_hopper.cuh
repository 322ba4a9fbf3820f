/*
 * attention_hopper.cuh - Hopper's own instructions as the attention kernel uses them: tiles
 * by the tensor copy engine that complete on mbarriers, products of a warpgroup (four
 * warps, 64 rows) with operands in shared memory, and registers moved between warpgroups.
 * PTX ISA 8.0, sections "Asynchronous Warpgroup Level Matrix Instructions", "mbarrier" and
 * "cp.async.bulk.tensor". Compiles to nothing but for sm_90a.
 *
 * Tiles in shared memory are panels of 128 bytes a row, as the copy engine writes them with
 * the 128-byte swizzle; a panel begins at a multiple of 1024 bytes.
 */
#ifndef ATTENTION_HOPPER_CUH
#define ATTENTION_HOPPER_CUH

#include <cuda.h>

#include "gpt.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* ---------------------------------------------------------------- mbarriers -- */

static __device__ __forceinline__ void arrival_init(uint32_t barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* Barriers just made become visible to the copy engine. */
static __device__ __forceinline__ void arrival_init_fence(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void arrival_expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void arrival_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Until the phase of this parity is complete; the one before the first counts as complete,
 * and has parity 1. */
static __device__ __forceinline__ void arrival_wait(uint32_t barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n"
                     " .reg .pred p;\n"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     " selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

static __device__ __forceinline__ void shared_put(uint32_t at, int value)
{
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}

static __device__ __forceinline__ int shared_get(uint32_t at)
{
    int value;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    return value;
}

/* ------------------------------------------------------------ the copy engine -- */

static __device__ __forceinline__ void tensor_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* The box of the map that begins at these coordinates, innermost first; zeros outside. */
static __device__ __forceinline__ void tensor_load(uint32_t to, const CUtensorMap *map,
                                                   uint32_t barrier, int x, int y, int z, int w)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
                 : "memory");
}

/* ---------------------------------------------------------------- warpgroups -- */

template <int REGISTERS> static __device__ __forceinline__ void group_shrink(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS> static __device__ __forceinline__ void group_grow(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

/* Named barriers 1 to 15: wait until `threads` have come, or come without waiting. */
static __device__ __forceinline__ void turn_wait(int barrier, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

static __device__ __forceinline__ void turn_pass(int barrier, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* ----------------------------------------------------------------- products -- */

/* Where an operand lies: bits 0-13 the address, 16-29 the leading and 32-45 the stride
 * offset, all in 16 bytes, and 62-63 the swizzle, 1 for 128 bytes.
 *   along k    (rows are m or n, 128 bytes of k): eight rows are `stride` apart;
 *   across k   (rows are k, 128 bytes of n): eight rows are `stride` apart, and the next
 *              64 numbers of n are in the panel `leading` behind. */
static __device__ __forceinline__ uint64_t operand(uint32_t address, uint32_t leading)
{
    const uint64_t stride = 8 * 128;
    return (uint64_t)1 << 62 | stride >> 4 << 32 | (uint64_t)(leading >> 4) << 16 |
           (address & 0x3ffff) >> 4;
}

/* The compiler may neither move accesses of these registers across this point, nor believe
 * to know what they hold. Stands where products under way read or write them. */
template <int COUNT> static __device__ __forceinline__ void pin(float (&r)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+f"(r[i])::"memory");
}

template <int COUNT> static __device__ __forceinline__ void pin(uint32_t (&r)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+r"(r[i])::"memory");
}

/* Registers written before are seen by the products that follow. */
static __device__ __forceinline__ void product_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void product_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most PENDING groups of products are under way. */
template <int PENDING> static __device__ __forceinline__ void product_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* Operand lists of the accumulators. */
#define PRODUCT_4(c, i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define PRODUCT_16(c, i)                                                                           \
    PRODUCT_4(c, i), PRODUCT_4(c, i + 4), PRODUCT_4(c, i + 8), PRODUCT_4(c, i + 12)
#define PRODUCT_32(c) PRODUCT_16(c, 0), PRODUCT_16(c, 16)
#define PRODUCT_64(c) PRODUCT_16(c, 0), PRODUCT_16(c, 16), PRODUCT_16(c, 32), PRODUCT_16(c, 48)
#define PRODUCT_NAMES_32                                                                           \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "  \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define PRODUCT_NAMES_64                                                                           \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "  \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "   \
    "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "   \
    "%56, %57, %58, %59, %60, %61, %62, %63}"

/* c = a b, or c += a b where `add`: 64 x 128, one step of 16 along k, a and b along k. */
static __device__ __forceinline__ void product_128(float (&c)[64], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " setp.ne.b32 p, %66, 0;\n"
                 " wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " PRODUCT_NAMES_64
                 ", %64, %65, p, 1, 1, 0, 0;\n"
                 "}"
                 : PRODUCT_64(c)
                 : "l"(a), "l"(b), "r"(add)
                 : "memory");
}

/* c += a b: 64 x 128 or 64 x 64, one step of 16 along k, a in registers, b across k. */
static __device__ __forceinline__ void product_across(float (&c)[64], const uint32_t *a, uint64_t b)
{
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " setp.eq.b32 p, 0, 0;\n"
                 " wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " PRODUCT_NAMES_64
                 ", {%64, %65, %66, %67}, %68, p, 1, 1, 1;\n"
                 "}"
                 : PRODUCT_64(c)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
                 : "memory");
}

static __device__ __forceinline__ void product_across(float (&c)[32], const uint32_t *a, uint64_t b)
{
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " setp.eq.b32 p, 0, 0;\n"
                 " wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " PRODUCT_NAMES_32
                 ", {%32, %33, %34, %35}, %36, p, 1, 1, 1;\n"
                 "}"
                 : PRODUCT_32(c)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
                 : "memory");
}

#endif

#endif
