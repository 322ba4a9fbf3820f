/*
 * model_persistent_ring.cuh - a block's weights, on their way through shared memory.
 *
 * A block has the same neighbouring rows of a weight (columns of the product) in every layer. The
 * whole sequence of what it will read is known: one thread asks TMA for it, in order, as far ahead
 * as the ring has slots, and waits for nothing else. A slot holds up to four rows, a piece of k
 * long, or a piece of a norm's scale and shift. Those that multiply count the slots as the fetching
 * thread does, and give them back together, once all warps have read them.
 */
#pragma once

#include "model_persistent_words.cuh"

/* A step's product, and the part of it that is this block's. */
template <typename T> struct persistent_step {
    static const int UNIT = 32 * 16 / (int)sizeof(T); /* elements that a warp reads at a time */
    static const int UNITS = PERSISTENT_PIECE / UNIT; /* of a slot's row */
    const T *w, *bias, *scale, *shift;                /* bias or the last two may be NULL */
    int n, k, first, rows;
    int units, pieces;               /* of a row */
    int norms;                       /* slots of scale and shift */
    int round;                       /* rows between two barriers */
    const uint64_t *from, *residual; /* words of the input; and of what is added, or NULL */
    uint64_t *to;                    /* words of the output */

    __device__ __forceinline__ persistent_step(const struct persistent_args &args,
                                               enum model_product product, int layer)
    {
        int c = args.channels;
        bool head = product == MODEL_P_HEAD, norm = head || product == MODEL_P_QKV;
        n = head                     ? args.vocabulary
            : product == MODEL_P_QKV ? 3 * c
            : product == MODEL_P_FC  ? 4 * c
                                     : c;
        k = product == MODEL_P_FC2 ? 4 * c : c;
        w = (const T *)args.w[product] + (head ? 0 : (int64_t)layer * n * k);
        int at = product == MODEL_P_QKV    ? MODEL_BIAS_QKV
                 : product == MODEL_P_PROJ ? MODEL_BIAS_PROJ
                 : product == MODEL_P_FC   ? MODEL_BIAS_FC
                                           : MODEL_BIAS_FC2;
        const T *biases = (const T *)args.bias + (int64_t)layer * MODEL_BIAS_LAYER * c;
        bias = head ? NULL : biases + at * c;
        bool second = product == MODEL_P_FC;
        scale = norm || second ? (const T *)args.scale + (2LL * layer + second) * c : NULL;
        shift = biases + (second ? MODEL_BIAS_NORM2 : MODEL_BIAS_NORM1) * c;
        first = begin(n, blockIdx.x);
        rows = begin(n, blockIdx.x + 1) - first;
        units = (k + UNIT - 1) / UNIT;
        pieces = (k + PERSISTENT_PIECE - 1) / PERSISTENT_PIECE;
        norms = scale ? pieces : 0;
        uint64_t *const *words = args.words;
        from = words[norm                      ? PERSISTENT_X
                     : product == MODEL_P_PROJ ? PERSISTENT_ATTENDED
                     : second                  ? PERSISTENT_MIDDLE
                                               : PERSISTENT_FC];
        residual = product == MODEL_P_PROJ  ? words[PERSISTENT_X]
                   : product == MODEL_P_FC2 ? words[PERSISTENT_MIDDLE]
                                            : NULL;
        to = words[product == MODEL_P_QKV    ? PERSISTENT_QKV
                   : product == MODEL_P_PROJ ? PERSISTENT_MIDDLE
                   : second                  ? PERSISTENT_FC
                                             : PERSISTENT_X];
        round = PERSISTENT_GROUP * min((int)PERSISTENT_GROUPS, (args.slots - norms) / pieces);
    }

    /* Block 0 has rows wherever there are any. */
    static __device__ __forceinline__ int begin(int n, unsigned block)
    {
        return (int)(((uint32_t)n * block + gridDim.x - 1) / gridDim.x); /* below 2^32 */
    }

    /* Elements of a piece of a row. */
    __device__ __forceinline__ int length(int piece) const
    {
        return min(k - piece * PERSISTENT_PIECE, (int)PERSISTENT_PIECE);
    }
};

/* A slot, and the parity of the turn in which it is used. */
struct persistent_place {
    int slot;
    uint32_t parity;
};

/* Where the ring and its barriers are in shared memory. */
struct persistent_ring {
    unsigned char *memory;
    uint32_t full, empty;
    int slots, slot_bytes;

    __device__ __forceinline__ unsigned char *slot(struct persistent_place at) const
    {
        return memory + at.slot * slot_bytes;
    }

    /* So many slots on, at most a turn. */
    __device__ __forceinline__ struct persistent_place after(struct persistent_place at,
                                                             int count) const
    {
        int slot = at.slot + count;
        if (slot < slots) return {slot, at.parity};
        return {slot - slots, at.parity ^ 1};
    }

    __device__ __forceinline__ void wait(struct persistent_place at) const
    {
        hopper_barrier_wait(full + 8 * at.slot, at.parity);
    }

    __device__ __forceinline__ void give_back(struct persistent_place at) const
    {
        hopper_barrier_arrive(empty + 8 * at.slot);
    }

    /* Rows of `length` elements, `ld` bytes apart, into a slot; returns the next. */
    template <typename T>
    __device__ __forceinline__ struct persistent_place fetch(struct persistent_place at,
                                                             const T *from, int64_t ld, int rows,
                                                             int length) const
    {
        int bytes = length * (int)sizeof(T);
        uint32_t to = hopper_shared(slot(at)), barrier = full + 8 * at.slot;
        hopper_barrier_wait(empty + 8 * at.slot, at.parity ^ 1);
        hopper_barrier_expect(barrier, rows * bytes);
        bool packed = ld == bytes;
        for (int row = 0; row < (packed ? 1 : rows); row++)
            hopper_load_bytes(to + row * bytes, (const char *)from + row * ld,
                              packed ? rows * bytes : bytes, barrier);
        return after(at, 1);
    }

    /* All of a step; returns the slot after its last. */
    template <typename T>
    __device__ __forceinline__ struct persistent_place fetch_step(const persistent_step<T> &step,
                                                                  struct persistent_place at) const
    {
        if (step.rows == 0) return at;
        for (int piece = 0; piece < step.norms; piece++)
            at = fetch(at, step.scale + piece * PERSISTENT_PIECE,
                       (const char *)step.shift - (const char *)step.scale, 2, step.length(piece));
        for (int row = 0; row < step.rows; row += PERSISTENT_GROUP)
            for (int piece = 0; piece < step.pieces; piece++)
                at = fetch(at,
                           step.w + (int64_t)(step.first + row) * step.k + piece * PERSISTENT_PIECE,
                           (int64_t)step.k * sizeof(T), min(step.rows - row, (int)PERSISTENT_GROUP),
                           step.length(piece));
        return at;
    }

    /* What the fetching thread does. */
    template <typename T>
    __device__ __forceinline__ void fetch_all(const struct persistent_args &args) const
    {
        struct persistent_place at = {0, 0};
        for (int layer = 0; layer < args.layers; layer++)
            for (int p = MODEL_P_QKV; p <= MODEL_P_FC2; p++)
                at = fetch_step(persistent_step<T>(args, (enum model_product)p, layer), at);
        if (args.vocabulary > 0)
            fetch_step(persistent_step<T>(args, MODEL_P_HEAD, args.layers), at);
    }
};
