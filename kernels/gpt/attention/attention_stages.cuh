/*
 * attention_stages.cuh - the shared memory of a block of attention_online_wgmma.cu: queries,
 * stages of keys and of values, barriers.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"

enum {
    ROWS = 64,  /* queries of a warpgroup */
    PANEL = 64, /* numbers in 128 bytes of a row */
    GROUP_THREADS = 128,
};

/* The shared memory of a block: queries, a tile of ROWS per warpgroup, of two units of work where
 * there is room, so that those of the next arrive early; stages of keys, and of values; barriers.
 *
 * ELEMENT: uint16_t (bf16) or fp16_t. SIZE: numbers per head that are computed; a head may be
 * smaller, and a tile is whole panels, with zeros behind the head. TILE: keys; GROUPS: warpgroups
 * that compute; STAGES: of keys and of values. */
template <typename ELEMENT, int SIZE, int TILE, int GROUPS, int STAGES> struct online_layout {
    typedef ELEMENT element;
    static const int size = SIZE, keys = TILE, groups = GROUPS, stages = STAGES;
    static const int panels = (SIZE + PANEL - 1) / PANEL;
    static const int threads = GROUP_THREADS * (GROUPS + 1);
    static const int queries = ROWS * GROUPS, query_stages = SIZE > 128 ? 1 : 2;
    static const int query_bytes = ROWS * panels * 128, key_bytes = TILE * panels * 128;
    static const int value_bytes = key_bytes, value_writers = 1; /* TMA */
    static const int keys_at = query_stages * GROUPS * query_bytes;
    static const int values_at = keys_at + STAGES * key_bytes;
    static const int barriers_at = values_at + STAGES * key_bytes;
    static const int lift = 0;                      /* the largest weight is 2^lift */
    static const bool straddles = TILE % ROWS != 0; /* 64 queries may be on two tiles' diagonals */
    static const int slack = 1024;                  /* to begin at a multiple of this */
    static const int bytes = slack + barriers_at + (6 + 4 * STAGES) * 8;
    static_assert(SIZE % 16 == 0 && TILE % 16 == 0 && TILE >= ROWS);
};

#ifdef HOPPER_CODE

/* Addresses of what is in shared memory. */
template <typename layout> struct online_memory {
    static const int stages = layout::stages;
    uint32_t base;

    __device__ uint32_t query(int stage, int group) const
    {
        return base + (stage * layout::groups + group) * layout::query_bytes;
    }
    __device__ uint32_t key(int stage) const
    {
        return base + layout::keys_at + stage * layout::key_bytes;
    }
    __device__ uint32_t value(int stage) const
    {
        return base + layout::values_at + stage * layout::value_bytes;
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
        return barrier(6 + stages + stage);
    }
    __device__ uint32_t value_there(int stage) const
    {
        return barrier(6 + 2 * stages + stage);
    }
    __device__ uint32_t value_free(int stage) const
    {
        return barrier(6 + 3 * stages + stage);
    }

    /* `groups`: of the warpgroups that compute, those that the block has. */
    __device__ void begin(int groups) const
    {
        for (int stage = 0; stage < layout::query_stages; stage++) {
            hopper_barrier_init(query_there(stage), 1);
            hopper_barrier_init(query_free(stage), 4 * groups);
        }
        for (int stage = 0; stage < stages; stage++) {
            hopper_barrier_init(key_there(stage), 1);
            hopper_barrier_init(key_free(stage), 4 * groups);
            hopper_barrier_init(value_there(stage), layout::value_writers);
            hopper_barrier_init(value_free(stage), 4 * groups);
        }
        hopper_barrier_publish();
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
