/*
 * model_clusters_ring.cuh - the weights' way to the blocks of a cluster: a ring of stages in the
 * shared memory of each block. A stage is 64 inputs of up to 128 outputs of a matrix. One block
 * asks for it, and TMA brings it to all of them; whose turn it is goes round.
 *
 * All blocks walk over the same stages of the whole model in the same order, so nothing about them
 * is handed over, and the stages of the next step or layer are on their way during this one.
 *
 *   full    the stage is here: its bytes have come. Of each block
 *   done    the warps of this block have read it
 *   empty   all blocks have read it: it is asked for in the block that fetches the next stage into
 *           this slot. Each block arrives there once it has told its own `full` of the bytes to
 *           come
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "model.h"

enum {
    CLUSTERS_WARPS = 8, /* that multiply */
    CLUSTERS_LANES = 32 * CLUSTERS_WARPS,
    CLUSTERS_THREADS = CLUSTERS_LANES + 64, /* a warp that fetches, and one that gives back */
    CLUSTERS_TILE = 16,                     /* outputs of a warp */
    CLUSTERS_OUTPUTS = CLUSTERS_WARPS * CLUSTERS_TILE, /* of a stage, at most */
    CLUSTERS_DEPTH = 64,                               /* inputs of a stage: 128 bytes */
    CLUSTERS_HALVES = 2,  /* stages of the same inputs, one after the other */
    CLUSTERS_SLOTS = 16,  /* at most */
    CLUSTERS_BLOCKS = 16, /* of a cluster, at most */
    CLUSTERS_GROUPS = 8,  /* of 16 tokens of a sequence, at most */
    CLUSTERS_PRODUCTS = MODEL_P_HEAD,
    CLUSTERS_ALIGN = 1024 /* bytes after which the swizzle repeats */
};

/* How a matrix is divided into stages. */
struct clusters_matrix {
    int n;       /* outputs */
    int outputs; /* of a stage: whole tiles */
    int columns; /* of stages: n over outputs */
    int chunks;  /* of inputs */
};

/* Where things are in shared memory, in bytes from the first slot. */
struct clusters_places {
    int stream, narrow, wide, barriers;
};

struct clusters_args {
    CUtensorMap map[CLUSTERS_PRODUCTS]; /* of all layers' outputs */
    struct clusters_matrix matrix[CLUSTERS_PRODUCTS];
    struct clusters_places places;
    const uint16_t *in, *scale, *bias;
    uint16_t *y;
    uint16_t *keys, *values; /* of two layers each, in turns: model_clusters_attend.cuh */
    int64_t turn;            /* elements of keys or values of a layer */
    float per_channel, scale_of_scores;
    int layers, heads, size, channels, tokens;
    int padded;                                      /* tokens of a sequence, in whole 16 */
    int cluster, slots, slot_bytes, stages;          /* stages: of the whole model */
    int stream_row, narrow_row, wide_row, query_row; /* elements from row to row */
};

/* The stage that is next: layers, products, pairs of columns, chunks, the two of a pair. */
struct clusters_walk {
    const struct clusters_args &args;
    int layer, product, column, chunk, half;

    __device__ __forceinline__ void next(void)
    {
        const struct clusters_matrix &matrix = args.matrix[product];
        if (++half < CLUSTERS_HALVES && column + half < matrix.columns) return;
        half = 0;
        if (++chunk < matrix.chunks) return;
        chunk = 0;
        column += CLUSTERS_HALVES;
        if (column < matrix.columns) return;
        column = 0;
        if (++product < CLUSTERS_PRODUCTS) return;
        product = 0;
        layer++;
    }

    /* Inputs and outputs outside the matrix come as zeros, and count. */
    __device__ __forceinline__ uint32_t bytes(void) const
    {
        return (uint32_t)args.matrix[product].outputs * CLUSTERS_DEPTH * 2;
    }
};

/* A slot, and the parity of the phase of its barriers that is waited for. */
struct clusters_cursor {
    int slot;
    uint32_t parity;

    __device__ __forceinline__ void next(int slots)
    {
        if (++slot < slots) return;
        slot = 0;
        parity ^= 1;
    }
};

struct clusters_ring {
    const struct clusters_args &args;
    uint32_t base; /* of the slots, in shared memory */

    __device__ __forceinline__ uint32_t slot(int i) const
    {
        return base + (uint32_t)(i * args.slot_bytes);
    }

    __device__ __forceinline__ uint32_t barrier(int i) const
    {
        return base + (uint32_t)args.places.barriers + 8 * (uint32_t)i;
    }

    __device__ __forceinline__ uint32_t full(int slot) const
    {
        return barrier(slot);
    }

    __device__ __forceinline__ uint32_t done(int slot) const
    {
        return barrier(CLUSTERS_SLOTS + slot);
    }

    __device__ __forceinline__ uint32_t empty(int slot) const
    {
        return barrier(2 * CLUSTERS_SLOTS + slot);
    }

    /* Behind them: keys and values of a layer are there, those of every second one. */
    __device__ __forceinline__ uint32_t handed(int turn) const
    {
        return barrier(3 * CLUSTERS_SLOTS + turn);
    }

    static constexpr int BARRIER_BYTES = 8 * (3 * CLUSTERS_SLOTS + 2);

    /* A warp of each block, before the blocks meet: a lane makes the barriers of a slot. */
    __device__ __forceinline__ void init(int lane) const
    {
        struct clusters_walk walk = {args, 0, 0, 0, 0, 0};
        if (lane < 2) hopper_barrier_init(handed(lane), args.cluster);
        if (lane < args.slots) {
            hopper_barrier_init(full(lane), 1);
            hopper_barrier_init(done(lane), CLUSTERS_WARPS);
            hopper_barrier_init(empty(lane), args.cluster);
        }
        hopper_barrier_publish();
        for (int stage = 0; stage < lane; stage++)
            walk.next();
        if (lane < min(args.slots, args.stages)) hopper_barrier_expect(full(lane), walk.bytes());
    }

    /* One thread of each block: fetch every stage whose turn it has. Parities of `empty` are this
     * block's own: it waits only where it fetches. */
    __device__ __forceinline__ void fetch_all(int rank) const
    {
        struct clusters_walk walk = {args, 0, 0, 0, 0, 0};
        const uint16_t all = (uint16_t)((1u << args.cluster) - 1);
        uint32_t parities = 0; /* a bit per slot */
        int slot_now = 0, fetcher = 0;
        for (int stage = 0; stage < args.stages; stage++, walk.next()) {
            if (fetcher == rank) {
                if (stage >= args.slots) {
                    hopper_barrier_wait(empty(slot_now), parities >> slot_now & 1);
                    parities ^= 1u << slot_now;
                }
                const struct clusters_matrix &matrix = args.matrix[walk.product];
                const int column = walk.column + walk.half;
                hopper_load_to(slot(slot_now), &args.map[walk.product], walk.chunk * CLUSTERS_DEPTH,
                               walk.layer * matrix.n + column * matrix.outputs, full(slot_now),
                               all);
            }
            if (++slot_now == args.slots) slot_now = 0;
            if (++fetcher == args.cluster) fetcher = 0;
        }
    }

    /* One thread of each block: give every slot that this block has read to the block that fills it
     * again. A thread of its own, for the one that fetches has to wait for the slowest block. */
    __device__ __forceinline__ void give_back_all(void) const
    {
        struct clusters_walk walk = {args, 0, 0, 0, 0, 0};
        struct clusters_cursor at = {0, 0};
        for (int i = 0; i < args.slots; i++)
            walk.next();
        int fetcher = args.slots % args.cluster;
        for (int stage = args.slots; stage < args.stages; stage++, walk.next()) {
            hopper_barrier_wait(done(at.slot), at.parity);
            hopper_barrier_expect(full(at.slot), walk.bytes());
            hopper_barrier_arrive(empty(at.slot), (uint32_t)fetcher);
            at.next(args.slots);
            if (++fetcher == args.cluster) fetcher = 0;
        }
    }
};
