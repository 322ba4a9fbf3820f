/*
 * attention_fp8_stages.cuh - the shared memory of a block of attention_fp8_wgmma.cu: queries,
 * stages of keys, of values as they arrive and of values turned round, barriers.
 */
#pragma once

#include "attention_stages.cuh"

/* All tiles are rows of 128 bytes, swizzled as wgmma and TMA want them: of q, k and v a row is a
 * token's numbers of a head, with zeros behind the head; of turned values it is one number of the
 * head for all keys of the tile. SIZE: numbers per head that are computed. TURNED: values come
 * turned round, by a launch before, and have no stages as they lie in qkv. */
template <int SIZE, int STAGES, bool TURNED> struct fp8_layout {
    typedef uint16_t element; /* of y */
    static const int size = SIZE, keys = 128, groups = 2, stages = STAGES, query_stages = 2;
    static const int threads = GROUP_THREADS * (groups + 1), queries = ROWS * groups;
    static const bool turned = TURNED;
    static const int turning_warps = 3;
    static const int query_bytes = ROWS * 128, tile_bytes = keys * 128, turned_bytes = SIZE * 128;
    static const int keys_at = query_stages * groups * query_bytes;
    static const int raw_at = keys_at + stages * tile_bytes;
    static const int values_at = raw_at + (TURNED ? 0 : stages * tile_bytes);
    static const int barriers_at = values_at + stages * turned_bytes;
    static const bool straddles = false;
    static const int lift = 8;     /* weights up to 2^8: most of them are normal numbers of e4m3 */
    static const int slack = 1024; /* to begin at a multiple of this */
    static const int bytes = slack + barriers_at + (6 + 7 * stages) * 8;
    static_assert(SIZE % 64 == 0 && SIZE <= 128);
};

#ifdef HOPPER_CODE

/* Addresses of what is in shared memory. */
template <typename layout> struct fp8_memory {
    static const int stages = layout::stages;
    uint32_t base;

    __device__ uint32_t query(int stage, int group) const
    {
        return base + (stage * layout::groups + group) * layout::query_bytes;
    }
    __device__ uint32_t key(int stage) const
    {
        return base + layout::keys_at + stage * layout::tile_bytes;
    }
    __device__ uint32_t raw(int stage) const
    {
        return base + layout::raw_at + stage * layout::tile_bytes;
    }
    __device__ uint32_t value(int stage) const
    {
        return base + layout::values_at + stage * layout::turned_bytes;
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
    __device__ uint32_t raw_there(int stage) const
    {
        return barrier(6 + 2 * stages + stage);
    }
    __device__ uint32_t raw_free(int stage) const
    {
        return barrier(6 + 3 * stages + stage);
    }
    __device__ uint32_t value_there(int stage) const
    {
        return barrier(6 + 4 * stages + stage);
    }
    __device__ uint32_t value_free(int stage) const
    {
        return barrier(6 + 5 * stages + stage);
    }
    __device__ uint32_t more(int stage) const
    {
        return barrier(6 + 6 * stages + stage); /* not a barrier: 0 where no values came */
    }

    __device__ void begin(void) const
    {
        for (int stage = 0; stage < layout::query_stages; stage++) {
            hopper_barrier_init(query_there(stage), 1);
            hopper_barrier_init(query_free(stage), 4 * layout::groups);
        }
        for (int stage = 0; stage < stages; stage++) {
            hopper_barrier_init(key_there(stage), 1);
            hopper_barrier_init(key_free(stage), 4 * layout::groups);
            hopper_barrier_init(raw_there(stage), 1);
            hopper_barrier_init(raw_free(stage), layout::turning_warps);
            hopper_barrier_init(value_there(stage), layout::turned ? 1 : layout::turning_warps);
            hopper_barrier_init(value_free(stage), 4 * layout::groups);
        }
        hopper_barrier_publish();
    }
};

#endif
