/*
 * attention_stages.cuh - the shared memory of a block of attention_online_wgmma.cu: queries,
 * stages of keys and of values, barriers.
 *
 * Template arguments: SIZE, numbers per head (64 or 128); GROUPS, warpgroups that compute; STAGES
 * of keys and of values.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"

enum {
    KEYS = 128, /* a tile */
    ROWS = 64,  /* queries of a warpgroup */
    PANEL = 64, /* numbers in 128 bytes of a row */
    GROUP_THREADS = 128,
};

/* The shared memory of a block: queries of two units of work, each a tile of ROWS per warpgroup, so
 * that those of the next arrive early; stages of keys, and of values; barriers. A tile is
 * SIZE / PANEL panels. */
template <int SIZE, int GROUPS, int STAGES> struct online_layout {
    static const int threads = GROUP_THREADS * (GROUPS + 1);
    static const int queries = ROWS * GROUPS;
    static const int query_bytes = ROWS * SIZE * 2, key_bytes = KEYS * SIZE * 2;
    static const int keys_at = 2 * GROUPS * query_bytes;
    static const int values_at = keys_at + STAGES * key_bytes;
    static const int barriers_at = values_at + STAGES * key_bytes;
    static const int slack = 1024; /* to begin at a multiple of this */
    static const int bytes = slack + barriers_at + (6 + 4 * STAGES) * 8;
};

#ifdef HOPPER_CODE

/* Addresses of what is in shared memory. */
template <int SIZE, int GROUPS, int STAGES> struct online_memory {
    typedef online_layout<SIZE, GROUPS, STAGES> layout;
    uint32_t base;

    __device__ uint32_t query(int stage, int group) const
    {
        return base + (stage * GROUPS + group) * layout::query_bytes;
    }
    __device__ uint32_t key(int stage) const
    {
        return base + layout::keys_at + stage * layout::key_bytes;
    }
    __device__ uint32_t value(int stage) const
    {
        return base + layout::values_at + stage * layout::key_bytes;
    }
    __device__ uint32_t barrier(int index) const
    {
        return base + layout::barriers_at + index * 8;
    }
    __device__ uint32_t query_there(int stage) const
    {
        return barrier(stage);
    }
    __device__ uint32_t query_free(int stage) const
    {
        return barrier(2 + stage);
    }
    __device__ uint32_t index(int stage) const
    {
        return barrier(4 + stage); /* not a barrier: the work whose queries are there */
    }
    __device__ uint32_t key_there(int stage) const
    {
        return barrier(6 + stage);
    }
    __device__ uint32_t key_free(int stage) const
    {
        return barrier(6 + STAGES + stage);
    }
    __device__ uint32_t value_there(int stage) const
    {
        return barrier(6 + 2 * STAGES + stage);
    }
    __device__ uint32_t value_free(int stage) const
    {
        return barrier(6 + 3 * STAGES + stage);
    }
};

/* A place in the ring of stages: `phase` is the parity of the rounds gone through. */
template <int STAGES> struct online_ring {
    int stage, phase;

    __device__ void advance(void)
    {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
};

#endif
