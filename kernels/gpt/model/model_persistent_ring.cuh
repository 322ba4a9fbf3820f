/*
 * model_persistent_ring.cuh - a block's weights, on their way through shared memory.
 *
 * A block has the same neighbouring rows of a weight (columns of the product) in every layer. The
 * whole sequence of what it will read is known, and TMA is asked for it, in order, as far ahead as
 * the ring has slots. A slot holds a row, or a piece of k of it. Behind a barrier after which all
 * warps have read some slots, as many more are asked for: by a warp of its own, which no other one
 * waits for, or in a pair by the warp that brings. The scale of the next norm has a place of its
 * own.
 */
#pragma once

#include "model_persistent_codes.cuh"

enum {
    PERSISTENT_SLOTS = 128, /* at most */
    /* Slots of fp32 that are asked for at a time, while as many are awaited; for one sequence. */
    PERSISTENT_FEW = 4,
    PERSISTENT_FEW_OF_ONE = 6
};

/* A step's product, and the part of it that is this block's. W: the format of the weights. */
template <typename T, typename W> struct persistent_step {
    /* Of the first layer; bias or fold is NULL. */
    const typename W::element *w;
    const T *bias;
    const struct persistent_fold *fold;
    int n, k, first, rows, apart; /* apart: rows of w from layer to layer */
    int skip, units;              /* of a row, before this block's, and these */
    int piece, pieces;            /* elements of a slot, and slots of a row */
    int round;                    /* rows between two barriers */
    const uint32_t *from;         /* words of the input */
    uint32_t *to;                 /* and of the output */

    __device__ __forceinline__ persistent_step(const struct persistent_args &args,
                                               enum model_product product, int pair)
    {
        int c = args.channels;
        bool head = product == MODEL_P_HEAD, norm = head || product == MODEL_P_QKV;
        n = head                     ? args.vocabulary
            : product == MODEL_P_QKV ? 3 * c
            : product == MODEL_P_FC  ? 4 * c
                                     : c;
        k = product == MODEL_P_FC2 ? 4 * c : c;
        w = (const typename W::element *)args.w[product];
        apart = head ? 0 : n;
        int at = product == MODEL_P_PROJ ? MODEL_BIAS_PROJ : MODEL_BIAS_FC2;
        bool second = product == MODEL_P_FC, normed = norm || second;
        bias = normed ? NULL : (const T *)args.bias + at * c;
        fold = normed ? args.fold + (head ? 7LL * args.layers * c : second ? 3 * c : 0) : NULL;
        int group = (int)blockIdx.x / pair, rank = (int)blockIdx.x % pair;
        first = begin(n, group, pair);
        rows = begin(n, group + 1, pair) - first;
        int all = (k + PERSISTENT_UNIT - 1) / PERSISTENT_UNIT;
        skip = W::part(all, rank, pair);
        units = W::part(all, rank + 1, pair) - skip;
        piece = PERSISTENT_PIECE / pair;
        pieces = pieces_of(k, pair);
        /* Who finishes a row of proj finishes that row of fc2, where it needs the stream. */
        int widest = product == MODEL_P_PROJ ? pieces_of(4 * c, pair) : pieces;
        round = min(pair * PERSISTENT_GROUP * PERSISTENT_GROUPS, args.slots / widest);
        uint32_t *const *words = args.words;
        from = words[norm                      ? PERSISTENT_X
                     : product == MODEL_P_PROJ ? PERSISTENT_ATTENDED
                     : second                  ? PERSISTENT_MIDDLE
                                               : PERSISTENT_FC];
        to = words[product == MODEL_P_QKV    ? PERSISTENT_QKV
                   : product == MODEL_P_PROJ ? PERSISTENT_MIDDLE
                   : second                  ? PERSISTENT_FC
                                             : PERSISTENT_X];
    }

    /* Slots of a row of a block of a pair. */
    static __device__ __forceinline__ int pieces_of(int k, int pair)
    {
        int units = ((k + PERSISTENT_UNIT - 1) / PERSISTENT_UNIT + pair - 1) / pair;
        int piece = PERSISTENT_PIECE / pair;
        return (units * PERSISTENT_UNIT + piece - 1) / piece;
    }

    /* Block 0 has rows wherever there are any. */
    static __device__ __forceinline__ int begin(int n, int group, int pair)
    {
        uint32_t groups = gridDim.x / pair;
        return (int)(((uint32_t)n * group + groups - 1) / groups); /* below 2^32 */
    }

    /* Slots: of each round the first piece of its rows, the second, ... */
    __device__ __forceinline__ int items(void) const
    {
        return rows * pieces;
    }

    /* What a slot holds in a layer: returns the weights. */
    __device__ __forceinline__ int item(int index, int layer, const typename W::element **at) const
    {
        int from = 0, count = min(round, rows), which = 0;
        for (; index >= count * pieces; count = min(round, rows - from))
            index -= count * pieces, from += count;
        for (; index >= count; which++)
            index -= count;
        int64_t row = (int64_t)layer * apart + first + from + index;
        *at = w + (row * k + skip * PERSISTENT_UNIT + which * piece) / W::WEIGHTS;
        return length(which);
    }

    /* Weights of a piece of a row. */
    __device__ __forceinline__ int length(int which) const
    {
        int end = min(k, (skip + units) * PERSISTENT_UNIT);
        return max(min(end - skip * PERSISTENT_UNIT - which * piece, piece), 0);
    }
};

/* A slot, and the parity of the turn in which it is used. */
struct persistent_place {
    int slot;
    uint32_t parity;
};

/* Where all of a block's shared memory begins. */
static __device__ __forceinline__ unsigned char *persistent_shared(void)
{
    extern __shared__ __align__(128) unsigned char persistent_bytes[];
    return persistent_bytes;
}

/* What it begins with. */
template <typename T, typename W> struct persistent_base {
    int read;                                /* slots so far, by all warps */
    uint64_t full[PERSISTENT_SLOTS], scaled; /* barriers of the slots, and of the scale */
    __align__(16) unsigned char steps[MODEL_PRODUCTS * sizeof(persistent_step<T, W>)];
};

template <typename T, typename W> struct persistent_ring {
    const struct persistent_args &args;
    int layer, product, item; /* of the next row that is asked for */

    static __device__ __forceinline__ persistent_base<T, W> &base(void)
    {
        return *(persistent_base<T, W> *)persistent_shared();
    }

    static __device__ __forceinline__ persistent_step<T, W> *steps(void)
    {
        return (persistent_step<T, W> *)base().steps;
    }

    static __device__ __forceinline__ uint32_t full(int slot)
    {
        return hopper_shared(base().full + slot);
    }

    __device__ __forceinline__ unsigned char *slot(int slot) const
    {
        return persistent_shared() + args.ring_at + slot * args.slot_bytes;
    }

    /* So many slots on, at most a turn. */
    __device__ __forceinline__ struct persistent_place after(struct persistent_place at,
                                                             int count) const
    {
        int slot = at.slot + count;
        if (slot < args.slots) return {slot, at.parity};
        return {slot - args.slots, at.parity ^ 1};
    }

    /* All lanes of a warp, each for its own. */
    static __device__ __forceinline__ void wait(struct persistent_place at)
    {
        hopper_barrier_wait_all(full(at.slot), at.parity);
    }

    static __device__ __forceinline__ void fetch(void *to, const void *from, uint32_t bytes,
                                                 uint32_t barrier)
    {
        hopper_barrier_expect(barrier, bytes);
        if (bytes > 0) hopper_load_bytes(hopper_shared(to), from, bytes, barrier);
    }

    __device__ __forceinline__ int products(void) const
    {
        return args.vocabulary > 0 ? (int)MODEL_PRODUCTS : (int)MODEL_P_HEAD;
    }

    __device__ __forceinline__ int all_steps(void) const
    {
        return 4 * args.layers + (args.vocabulary > 0);
    }

    __device__ __forceinline__ int product_of(int i) const
    {
        return i / 4 == args.layers ? (int)MODEL_P_HEAD : i % 4;
    }

    /* What is brought into a row of a step's output: fold, or bias alone. */
    __device__ __forceinline__ struct persistent_fold brought(int i, int row) const
    {
        int layer = i / 4;
        const persistent_step<T, W> &step = steps()[product_of(i)];
        int64_t c = args.channels, column = step.first + row;
        if (step.fold) return step.fold[(layer == args.layers ? 0 : 7 * c * layer) + column];
        return {0.0f, gpt_float(step.bias[MODEL_BIAS_LAYER * c * layer + column])};
    }

    /* To the step that has item `item`, counted from the first of step `product` of `layer`. */
    __device__ __forceinline__ void find(int &layer, int &product, int &item) const
    {
        for (int items; product < products() && item >= (items = steps()[product].items());) {
            item -= items;
            if (++product == MODEL_P_HEAD && ++layer < args.layers) product = 0;
        }
    }

    /* Ask for all, as soon as there is place; a warp of its own. */
    __device__ __forceinline__ void ask_all(int lane)
    {
        const bool FEW = sizeof(T) == 4; /* at a time, not to stand in the way of words */
        int most = !FEW ? 32 : args.batch == 1 ? PERSISTENT_FEW_OF_ONE : PERSISTENT_FEW;
        struct persistent_place at = {0, 0}, last = at, older = at;
        find(layer, product, item);
        for (int asked = 0, turn = 0; product < products();) {
            int read = __shfl_sync(0xffffffffu, hopper_get(hopper_shared(&base().read)), 0);
            int count = min(args.slots - asked + read, most);
            if (count == 0) continue;
            if (FEW && turn++ >= 2) wait(older);
            ask(at, count, lane);
            older = last, last = after(at, count - 1);
            at = after(at, count), asked += count;
        }
    }

    /* Ask for `count` more, from slot `at` on, a lane for each, once all have read what is there.
     */
    __device__ __forceinline__ void ask(struct persistent_place at, int count, int lane)
    {
        for (int i = lane; i < count; i += 32) {
            int l = layer, p = product, own = item + i;
            find(l, p, own);
            if (p == products()) break;
            const typename W::element *from;
            int length = steps()[p].item(own, l, &from), to = after(at, i).slot;
            fetch(slot(to), from, (uint32_t)length / W::WEIGHTS * sizeof *from, full(to));
        }
        __syncwarp();
        item += count;
        find(layer, product, item);
    }
};
