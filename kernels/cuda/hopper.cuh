/*
 * hopper.cuh - tiles between device memory and shared memory by Hopper's TMA (tensor memory
 * accelerator), the mbarriers on which they land, clusters, and registers passed between
 * warpgroups. PTX ISA 8.0; the bodies that include this are compiled for sm_90a alone
 * (HOPPER_CODE), since no other machine code has wgmma and setmaxnreg; variants that need them say
 * so (assay_variant.arch_specific).
 *
 * Addresses are 32-bit addresses in the shared window. A barrier's phase ends when all its arrivals
 * and all the bytes that it expects have come.
 */
#pragma once

#include <cuda.h>
#include <stdint.h>

#include "assay.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER_CODE 1
#endif

static __device__ __forceinline__ uint32_t hopper_shared(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* The compiler must not compute this again where it is used: to read where shared memory begins, or
 * the block's rank, takes some 50 cycles. */
static __device__ __forceinline__ uint32_t hopper_kept(uint32_t number)
{
    asm volatile("" : "+r"(number));
    return number;
}

/* A thread's warp, which the compiler knows to be the same in all lanes. */
static __device__ __forceinline__ int hopper_warp(void)
{
    return __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
}

/* One lane of a whole warp, the same each time, which the compiler knows to be one. */
static __device__ __forceinline__ bool hopper_elect(void)
{
    uint32_t elected;
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " elect.sync _|p, 0xffffffff;\n"
                 " selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(elected));
    return elected;
}

/* --------------------------------------------------------------- barriers -- */

static __device__ __forceinline__ void hopper_barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

/* Make the barriers that this thread has initialised visible to the cluster and to TMA. */
static __device__ __forceinline__ void hopper_barrier_publish(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrive, and let the phase expect so many bytes. */
static __device__ __forceinline__ void hopper_barrier_expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/* Arrive at this barrier in block `rank` of the cluster, to signal that products have read their
 * tiles. The caller has waited for the products, and the other block need not see any ordinary
 * write. So no memory order is asked for, which would cost a fence of the whole device. */
static __device__ __forceinline__ void hopper_barrier_arrive(uint32_t barrier, uint32_t rank)
{
    asm volatile("{\n"
                 " .reg .b32 remote;\n"
                 " mapa.shared::cluster.u32 remote, %0, %1;\n"
                 " mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

/* The same in this block. */
static __device__ __forceinline__ void hopper_barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* The same where `whether`, without a branch: the compiler lets no products run past one. */
static __device__ __forceinline__ void hopper_barrier_arrive_if(uint32_t barrier, bool whether)
{
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " setp.ne.b32 p, %1, 0;\n"
                 " @p mbarrier.arrive.shared::cta.b64 _, [%0];\n"
                 "}" ::"r"(barrier),
                 "r"((int)whether)
                 : "memory");
}

/* Whether the phase of this parity has ended, waiting a while for it. The phase before the first,
 * of parity 1, has. */
static __device__ __forceinline__ bool hopper_barrier_try(uint32_t barrier, uint32_t parity)
{
    uint32_t done;
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

/* Wait until it has ended. */
static __device__ __forceinline__ void hopper_barrier_wait(uint32_t barrier, uint32_t parity)
{
    while (!hopper_barrier_try(barrier, parity)) {
    }
}

/* The same for all lanes of a warp, each with a barrier of its own. They stay together: lanes that
 * leave a loop one by one may come apart for good, and then the warp runs its code twice. */
static __device__ __forceinline__ void hopper_barrier_wait_all(uint32_t barrier, uint32_t parity)
{
    while (!__all_sync(0xffffffffu, hopper_barrier_try(barrier, parity))) {
    }
}

/* Whether it has ended. */
static __device__ __forceinline__ bool hopper_barrier_test(uint32_t barrier, uint32_t parity)
{
    uint32_t done;
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

/* Named barriers 1 to 15: wait until `threads` have come, or come without waiting. */
static __device__ __forceinline__ void hopper_turn_wait(int barrier, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

static __device__ __forceinline__ void hopper_turn_pass(int barrier, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* A word of shared memory that a barrier guards. */
static __device__ __forceinline__ void hopper_put(uint32_t at, int value)
{
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}

static __device__ __forceinline__ int hopper_get(uint32_t at)
{
    int value;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    return value;
}

/* Store four 8 x 8 matrices of pairs of bytes: row r of matrix m is 16 bytes at the address of lane
 * 8 m + r, and its word q is word m of lane 4 r + q. */
static __device__ __forceinline__ void hopper_matrices_put(uint32_t at, const uint32_t word[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
}

/* The same of matrices that are turned on the way: what lanes hold of row r becomes column r. */
static __device__ __forceinline__ void hopper_matrices_turn(uint32_t at, const uint32_t word[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
}

/* ---------------------------------------------------------------- cluster -- */

static __device__ __forceinline__ uint32_t hopper_cluster_rank(void)
{
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* Every thread of the cluster arrives; the warps need not be whole. */
static __device__ __forceinline__ void hopper_cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.release;\n barrier.cluster.wait.acquire;" ::: "memory");
}

/* The first half of it, before which nothing is written that others read, and the second. */
static __device__ __forceinline__ void hopper_cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

static __device__ __forceinline__ void hopper_cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* The same as hopper_cluster_sync, of threads that need see no writes but those of barriers that
 * hopper_barrier_publish has made visible: what they have read of other blocks, they have used.
 * Without a memory order there is no fence of the whole device, and no thread waits for its stores
 * to device memory. */
static __device__ __forceinline__ void hopper_cluster_sync_reads(void)
{
    asm volatile("barrier.cluster.arrive.relaxed;\n barrier.cluster.wait;" ::: "memory");
}

/* Write a word to this address in the shared memory of block `rank`. */
static __device__ __forceinline__ void hopper_put_to(uint32_t at, uint32_t rank, uint32_t word)
{
    asm volatile("{\n"
                 " .reg .b32 remote;\n"
                 " mapa.shared::cluster.u32 remote, %0, %1;\n"
                 " st.shared::cluster.u32 [remote], %2;\n"
                 "}" ::"r"(at),
                 "r"(rank), "r"(word)
                 : "memory");
}

/* Four numbers at this address in the shared memory of block `rank`. */
static __device__ __forceinline__ float4 hopper_get_from(uint32_t at, uint32_t rank)
{
    float4 v;
    asm volatile("{\n"
                 " .reg .b32 remote;\n"
                 " mapa.shared::cluster.u32 remote, %4, %5;\n"
                 " ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n"
                 "}"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(at), "r"(rank)
                 : "memory");
    return v;
}

/* ------------------------------------------------------------------ tiles -- */

/* The box at (inner, outer) of the map's matrix, zeros outside it. */
static __device__ __forceinline__ void hopper_load(uint32_t to, const CUtensorMap *map,
                                                   int32_t inner, int32_t outer, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(barrier)
                 : "memory");
}

/* Copy `bytes`, a multiple of 16, from memory aligned to 16 bytes. */
static __device__ __forceinline__ void hopper_load_bytes(uint32_t to, const void *from,
                                                         uint32_t bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* The box at (x, y, z, w) of a map of four dimensions, innermost first. */
static __device__ __forceinline__ void hopper_load(uint32_t to, const CUtensorMap *map,
                                                   uint32_t barrier, int x, int y, int z, int w)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
                 : "memory");
}

/* Copy a box of a matrix to each block of the cluster whose bit is set, at this address and with
 * this barrier of that block. */
static __device__ __forceinline__ void hopper_load_to(uint32_t to, const CUtensorMap *map,
                                                      int32_t inner, int32_t outer,
                                                      uint32_t barrier, uint16_t blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(barrier), "h"(blocks)
                 : "memory");
}

/* Store a box; what is outside the matrix is not written. Each store is a group of its own. */
static __device__ __forceinline__ void hopper_store(const CUtensorMap *map, uint32_t from,
                                                    int32_t inner, int32_t outer)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(inner), "r"(outer), "r"(from)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Wait until all but the last PENDING stores of this thread have read their shared memory. */
template <int PENDING> static __device__ __forceinline__ void hopper_store_wait(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

/* Make this thread's ordinary writes to shared memory visible to TMA. */
static __device__ __forceinline__ void hopper_store_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void hopper_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* -------------------------------------------------------------- registers -- */

template <int COUNT> static __device__ __forceinline__ void hopper_registers_take(void)
{
#ifdef HOPPER_CODE
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

template <int COUNT> static __device__ __forceinline__ void hopper_registers_give(void)
{
#ifdef HOPPER_CODE
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
