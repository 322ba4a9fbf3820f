/*
 * bulk.cuh - Hopper's bulk copies between global and shared memory, in PTX.
 *
 * Addresses and sizes are multiples of 16 bytes. All but bulk_wait_landed are for one
 * thread of the block, the same each time. Source: PTX ISA, "cp.async.bulk" and
 * "mbarrier".
 */
#pragma once

#include <stdint.h>

#include "kernels/cuda/hopper.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* Ready for one arrival a phase: the leader's, with the bytes to expect. */
static __device__ __forceinline__ void bulk_barrier_init(uint64_t *landed)
{
    hopper_barrier_init(hopper_shared(landed), 1);
    hopper_barrier_publish();
}

/* Announce a tile's bytes to `landed`, then send for them; read once, so they
 * are first to leave L2. */
static __device__ __forceinline__ void bulk_fetch(uint4 *slot, const void *from, uint32_t bytes,
                                                  uint64_t *landed)
{
    hopper_barrier_expect(hopper_shared(landed), bytes);
    asm volatile("{\n\t"
                 ".reg .b64 policy;\n\t"
                 "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n\t"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], policy;\n\t"
                 "}" ::"r"(hopper_shared(slot)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(hopper_shared(landed))
                 : "memory");
}

static __device__ __forceinline__ void bulk_wait_landed(uint64_t *landed, uint32_t parity)
{
    asm volatile("{\n\t"
                 ".reg .pred done;\n\t"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t"
                 "}" ::"r"(hopper_shared(landed)),
                 "r"(parity)
                 : "memory");
}

/* Send a tile of codes on its way, as a group of its own. */
static __device__ __forceinline__ void bulk_put(int8_t *to, const uint32_t *codes, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(hopper_shared(codes)), "r"(bytes)
                 : "memory");
}

/* Until every tile put so far is in its place. */
static __device__ __forceinline__ void bulk_wait_written(void)
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif
