/*
 * bulk.cuh - Hopper's bulk copies between device memory and shared memory, in PTX.
 *
 * Addresses and sizes are multiples of 16 bytes. All functions except bulk_wait_landed are called
 * by one thread of the block, always the same. Source: PTX ISA, "cp.async.bulk" and "mbarrier".
 */
#pragma once

#include <stdint.h>

#include "kernels/cuda/hopper.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* One arrival per phase: the leader's, which also says how many bytes to expect. */
static __device__ __forceinline__ void bulk_barrier_init(uint64_t *landed)
{
    hopper_barrier_init(hopper_shared(landed), 1);
    hopper_barrier_publish();
}

/* Let `landed` expect a tile's bytes, then start the copy. The tile is read once, so it is marked
 * to leave L2 first. */
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

/* Start the store of a tile of codes, as a group of its own. */
static __device__ __forceinline__ void bulk_put(int8_t *to, const uint32_t *codes, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(hopper_shared(codes)), "r"(bytes)
                 : "memory");
}

/* Wait until all stores so far are complete. */
static __device__ __forceinline__ void bulk_wait_written(void)
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif
