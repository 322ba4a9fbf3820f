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
    static const int turning_warps = 3, value_writers = TURNED ? 1 : turning_warps;
    static const int query_bytes = ROWS * 128, key_bytes = keys * 128, value_bytes = SIZE * 128;
    static const int keys_at = query_stages * groups * query_bytes;
    static const int raw_at = keys_at + stages * key_bytes;
    static const int values_at = raw_at + (TURNED ? 0 : stages * key_bytes);
    static const int barriers_at = values_at + stages * value_bytes;
    static const bool straddles = false;
    static const int lift = 8;     /* weights up to 2^8: most of them are normal numbers of e4m3 */
    static const int slack = 1024; /* to begin at a multiple of this */
    static const int bytes = slack + barriers_at + (6 + 7 * stages) * 8;
    static_assert(SIZE % 64 == 0 && SIZE <= 128);
};

#ifdef HOPPER_CODE

/* Beside those of other attentions, values as they lie in qkv. */
template <typename layout> struct fp8_memory : online_memory<layout> {
    static const int stages = layout::stages;

    __device__ uint32_t raw(int stage) const
    {
        return this->base + layout::raw_at + stage * layout::key_bytes;
    }
    __device__ uint32_t raw_there(int stage) const
    {
        return this->barrier(6 + 4 * stages + stage);
    }
    __device__ uint32_t raw_free(int stage) const
    {
        return this->barrier(6 + 5 * stages + stage);
    }
    __device__ uint32_t more(int stage) const
    {
        return this->barrier(6 + 6 * stages + stage); /* no barrier: 0 where no values came */
    }

    __device__ void begin(void) const
    {
        for (int stage = 0; stage < stages; stage++) {
            hopper_barrier_init(raw_there(stage), 1);
            hopper_barrier_init(raw_free(stage), layout::turning_warps);
        }
        online_memory<layout>::begin(layout::groups);
    }
};

#endif
