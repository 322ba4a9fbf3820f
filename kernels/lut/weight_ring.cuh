/*
 * weight_ring.cuh - how codes and X come to the warpgroups of weight_only_wgmma.cu: which units of
 * K of which columns each has, and a ring of stages in shared memory that one thread fills by TMA
 * while they read others. Behind the table of codewords, which that thread loads first.
 */
#pragma once

#include "kernels/cuda/dependent_launch.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "weight.cuh"

enum {
    CHUNK_BYTES = 2 * WEIGHT_CHUNK, /* of a row of X */
    TEAMS = 4,                      /* warpgroups of a block that multiply */
    READERS = TEAMS * WGMMA_THREADS,
    THREADS = WGMMA_THREADS * (TEAMS + 1),
    TILES = 4,          /* of 16 columns, per warpgroup */
    PIECE = TILES * 32, /* of 16 bytes: a warpgroup's codes of a unit */
    TABLE_PARTS = 8,    /* in which the table is copied */
    RING_BYTES = 96 * 1024,

    /* Per thread, together what 96 for each thread of the block are. */
    READER_REGISTERS = 112,
    PRODUCER_REGISTERS = 32,
};

template <int M, int NT> constexpr int UNIT_BYTES = 2 / M * 8 * NT *CHUNK_BYTES;

/* Units of a stage, a divisor of WEIGHT_AHEAD: all of it where the ring has two such stages. */
template <int M, int NT> constexpr int STAGE_UNITS = NT <= 2 * M ? 4 : 2;

template <int M, int NT> struct weight_stage {
    char x[STAGE_UNITS<M, NT> * UNIT_BYTES<M, NT>];
    uint4 codes[TEAMS][STAGE_UNITS<M, NT>][PIECE];
};

template <int M, int NT>
constexpr int STAGES = RING_BYTES / (int)sizeof(struct weight_stage<M, NT>);

/* Behind the table in shared memory. A stage is filled again when every thread has read its codes
 * in it and every product its X; at least one more is full meanwhile. */
template <int M, int NT> struct weight_ring {
    static_assert(STAGES<M, NT> >= 2, "stages are filled while others are read");

    struct weight_stage<M, NT> stage[STAGES<M, NT>];
    uint64_t full[STAGES<M, NT>], empty[STAGES<M, NT>], table; /* barriers */
};

/* ------------------------------------------------------------------ tasks -- */

/* What a team does in a round: units [begin, end) of the slice for a group of columns. */
struct task {
    int64_t group;
    int begin, end, part, parts;

    __device__ __forceinline__ bool has(int unit) const
    {
        return begin <= unit && unit < end;
    }
};

/* Each block has as many whole groups; what is left over is cut along K, so that every block can
 * have a piece. */
static __device__ __forceinline__ struct task task_of(const struct weight_args &args, int slot)
{
    const int slice = blockIdx.x % args.slices, mine = blockIdx.x / args.slices;
    const int others = gridDim.x / args.slices, steps = args.slice_units / WEIGHT_AHEAD;
    const int whole = (int)(args.groups / others), rest = (int)(args.groups % others);
    struct task task = {mine + (int64_t)others * slot, 0, args.slice_units, slice, args.slices};
    if (slot < whole) return task;
    const int pieces = rest > 0 ? min(others / rest, steps) : 0;
    if (slot > whole || mine >= rest * pieces) return {0, 0, 0, 0, 0};
    const int piece = mine / rest;
    task.group = (int64_t)others * whole + mine % rest;
    task.begin = steps * piece / pieces * WEIGHT_AHEAD;
    task.end = steps * (piece + 1) / pieces * WEIGHT_AHEAD;
    task.part = slice * pieces + piece;
    task.parts = args.slices * pieces;
    return task;
}

/* Rounds of a block's teams. */
static __device__ __forceinline__ int rounds_of(const struct weight_args &args)
{
    const int others = gridDim.x / args.slices;
    return (int)((args.groups + others - 1) / others + TEAMS - 1) / TEAMS;
}

/* ------------------------------------------------------------------- ring -- */

#ifdef HOPPER_CODE

/* One thread: barriers, and the table. Blocks begin at different places of it, so that they do not
 * all ask one part of L2 at a time. */
template <int M, int NT>
static __device__ __forceinline__ void open(const struct weight_args &args, uint32_t table,
                                            struct weight_ring<M, NT> &ring)
{
    const int bytes = WEIGHT_TABLE_BYTES / TABLE_PARTS;
    const uint32_t loaded = hopper_shared(&ring.table);
    for (int i = 0; i < STAGES<M, NT>; i++) {
        hopper_barrier_init(hopper_shared(ring.full + i), 1);
        hopper_barrier_init(hopper_shared(ring.empty + i), READERS);
    }
    hopper_barrier_init(loaded, 1);
    hopper_barrier_publish();
    hopper_barrier_expect(loaded, WEIGHT_TABLE_BYTES);
    for (int i = 0; i < TABLE_PARTS; i++) {
        const int at = (i + blockIdx.x) % TABLE_PARTS * bytes;
        hopper_load_bytes(table + at, (const char *)args.table + at, bytes, loaded);
    }
}

/* One thread: stage after stage, X only when it has been arranged. The codes of a team that has
 * none of these units are left out. */
template <int M, int NT>
static __device__ __forceinline__ void produce(const struct weight_args &args,
                                               struct weight_ring<M, NT> &ring)
{
    constexpr int UNITS = STAGE_UNITS<M, NT>, X_BYTES = sizeof ring.stage[0].x;
    const int slice = blockIdx.x % args.slices, rounds = rounds_of(args);
    const char *x = (const char *)args.arranged + (int64_t)(blockIdx.y * args.slices + slice) *
                                                      (args.slice_units / UNITS) * X_BYTES;
    int stage = 0;
    for (int round = 0; round < rounds; round++) {
        struct task tasks[TEAMS];
#pragma unroll
        for (int team = 0; team < TEAMS; team++)
            tasks[team] = task_of(args, round * TEAMS + team);
        for (int unit = 0; unit < args.slice_units; unit += UNITS, stage++) {
            const int slot = stage % STAGES<M, NT>;
            const uint32_t full = hopper_shared(ring.full + slot);
            hopper_barrier_wait(hopper_shared(ring.empty + slot), (stage / STAGES<M, NT> + 1) % 2);
            int bytes = X_BYTES;
#pragma unroll
            for (int team = 0; team < TEAMS; team++)
                if (tasks[team].has(unit)) bytes += sizeof ring.stage[0].codes[0];
            hopper_barrier_expect(full, bytes);
#pragma unroll
            for (int team = 0; team < TEAMS; team++)
                if (tasks[team].has(unit))
                    hopper_load_bytes(
                        hopper_shared(ring.stage[slot].codes[team]),
                        args.codes +
                            ((slice * args.groups + tasks[team].group) * args.slice_units + unit) *
                                PIECE,
                        sizeof ring.stage[0].codes[0], full);
            if (stage == 0) dependent_wait();
            hopper_load_bytes(hopper_shared(ring.stage[slot].x),
                              x + (int64_t)(unit / UNITS) * X_BYTES, X_BYTES, full);
        }
    }
}

/* Where a thread reads the ring. */
template <int M, int NT> struct reader {
    uint32_t full, empty; /* the first barriers */
    int slot, parity;

    __device__ __forceinline__ void await() const
    {
        hopper_barrier_wait_all(full + 8 * slot, parity);
    }

    __device__ __forceinline__ void release(int read, bool whether) const
    {
        hopper_barrier_arrive_if(empty + 8 * read, whether);
    }

    __device__ __forceinline__ void release_last(bool whether) const
    {
        release(slot > 0 ? slot - 1 : STAGES<M, NT> - 1, whether);
    }

    __device__ __forceinline__ void advance()
    {
        if (++slot < STAGES<M, NT>) return;
        slot = 0;
        parity ^= 1;
    }

    /* Stages of so many units that others read. */
    __device__ __forceinline__ void pass(int units)
    {
        for (int unit = 0; unit < units; unit += STAGE_UNITS<M, NT>) {
            await();
            release(slot, true);
            advance();
        }
    }
};

#endif
