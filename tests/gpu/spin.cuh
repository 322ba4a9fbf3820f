/*
 * spin.cuh - make a kernel slower by so many nanoseconds, to see whether a gate finds it: the
 * thread block that ends last waits. Nothing hides that wait, as other work hides one in
 * every block. To count the blocks costs a little, too: 0.1 to 1 us where there are hundreds,
 * more where there are thousands (docs/gate-statistics.md has what it made of seven cases).
 *
 * In a kernel: #include "tests/gpu/spin.cuh", and spin_last(2830); as its last statement.
 */
#pragma once

#include <stdint.h>

static __device__ unsigned spin_ended; /* blocks of the launch that is running */

static __device__ __forceinline__ uint64_t spin_now_ns(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* At the end of a kernel, by all threads of every block. */
static __device__ __forceinline__ void spin_last(uint64_t wait_ns)
{
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&spin_ended, 1u) != gridDim.x * gridDim.y * gridDim.z - 1) return;
    spin_ended = 0;
    uint64_t begin = spin_now_ns();
    while (spin_now_ns() - begin < wait_ns)
        continue;
}
