/*
 * linear_parts.h - tiles that several blocks compute, each a part of k: the division of the work. A
 * stage is a step of k of one tile, the unit of time. Pure, for the host too.
 *
 * Evenly: the stages of the first `split` tiles are cut into equal shares, one per block (or
 * cluster), wherever that falls; every other tile belongs to one block. So a share begins or ends
 * within a tile. The block that has a tile's first stages is the one that stores it; it adds the
 * sums of the blocks that go on with the tile, in the order of k, so that the result does not
 * depend on who is first. The others have begun with that tile, at the time when the one that
 * stores it was elsewhere, and have mostly finished it long ago. ("Stream-K": Osama, Merrill,
 * Cecka, Garland and Owens, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix
 * Multiplication on the GPU", PPoPP 2023, section 4.)
 *
 * All blocks must be on the device at the same time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define LINEAR_PARTS_FUNCTION static __host__ __device__ __forceinline__
#else
#define LINEAR_PARTS_FUNCTION static inline
#endif

/* Stages [begin, end) of a tile. */
struct linear_unit {
    int tile, begin, end;
};

/* How the stages of a product's tiles are shared: only whole tiles; those that do not fill the
 * device cut into equal shares; or each of the rest cut into as many parts as there is room for,
 * alike, so that blocks at the same place of k share operands in L2 and end together, but a share
 * more or less may be left over. */
enum linear_parts_how { LINEAR_WHOLE, LINEAR_EVENLY, LINEAR_ALIKE };

struct linear_division {
    int tiles, depth; /* stages in a tile */
    int split;        /* so many tiles, the first, are divided */
    int ways;         /* each into so many parts; 0: evenly */
    int shares;
};

/* Where a share is. `of` is a copy: through a pointer to a kernel's arguments each of its members
 * would be loaded as if from device memory, before the first tile and at every other. */
struct linear_walk {
    struct linear_division of;
    int share;
    int at, end; /* stages of the divided tiles */
    int whole;   /* the next tile that is not divided */
};

/* Evenly: the first stage of a share, counted over all divided tiles: their stages times share /
 * shares. In 32 bits: a division in 64 takes as long as a stage. */
LINEAR_PARTS_FUNCTION int linear_walk_begin(const struct linear_division *of, int share)
{
    int stages = of->split * of->depth, each = stages / of->shares;
    return each * share + (stages - each * of->shares) * share / of->shares;
}

LINEAR_PARTS_FUNCTION struct linear_walk linear_walk_of(int share, const struct linear_division *of)
{
    struct linear_walk walk = {*of, share, 0, 0, of->split + share};
    if (of->split == 0) return walk; /* no division before the first load */
    if (of->ways == 0) {
        walk.at = linear_walk_begin(of, share);
        walk.end = linear_walk_begin(of, share + 1);
    } else if (share < of->split * of->ways) {
        int part = share % of->ways, first = share / of->ways * of->depth;
        walk.at = first + of->depth * part / of->ways;
        walk.end = first + of->depth * (part + 1) / of->ways;
    }
    return walk;
}

/* The share that goes on with a tile after the one that begins it, and after so many others; -1:
 * none. */
LINEAR_PARTS_FUNCTION int linear_walk_other(const struct linear_walk *walk, int tile, int others)
{
    const struct linear_division *of = &walk->of;
    int share = walk->share + 1 + others;
    if (of->ways > 0) return others + 1 < of->ways ? share : -1;
    return linear_walk_begin(of, share) < (tile + 1) * of->depth ? share : -1;
}

LINEAR_PARTS_FUNCTION bool linear_walk_more(const struct linear_walk *walk)
{
    return walk->at < walk->end || walk->whole < walk->of.tiles;
}

/* The next unit of the share; false at its end. */
LINEAR_PARTS_FUNCTION bool linear_walk_next(struct linear_walk *walk, struct linear_unit *unit)
{
    if (!linear_walk_more(walk)) return false;
    if (walk->at < walk->end) {
        int tile = walk->at / walk->of.depth, begin = walk->at % walk->of.depth;
        int left = walk->end - walk->at, rest = walk->of.depth - begin;
        int stages = left < rest ? left : rest;
        *unit = (struct linear_unit){tile, begin, begin + stages};
        walk->at += stages;
    } else {
        *unit = (struct linear_unit){walk->whole, 0, walk->of.depth};
        walk->whole += walk->of.shares;
    }
    return true;
}

/* Fewer stages are not worth the exchange of their sums. */
enum { LINEAR_PARTS_LEAST = 4 };

/* Where `fit` blocks (or clusters) are on the device at a time, alike in at most `most` parts.
 * Evenly: with more tiles than that the last whole round is divided with the rest, so that a share
 * never has less than a tile's stages and its sums are exchanged once; with fewer, each share has
 * LINEAR_PARTS_LEAST stages at least. Nothing is divided where nothing is left over, or there is no
 * room. */
LINEAR_PARTS_FUNCTION struct linear_division linear_division_of(enum linear_parts_how how,
                                                                int tiles, int depth, int fit,
                                                                int most)
{
    struct linear_division of = {tiles, depth, 0, 0, tiles < fit ? tiles : fit};
    const int rest = tiles % fit;
    if (how == LINEAR_WHOLE || rest == 0) return of;
    if (how == LINEAR_EVENLY) {
        of.split = tiles < fit ? tiles : fit + rest;
        int64_t worth = (int64_t)of.split * depth / LINEAR_PARTS_LEAST;
        if (of.shares < worth) of.shares = worth < fit ? (int)worth : fit;
        return of;
    }
    int ways = fit / rest, worth = depth / LINEAR_PARTS_LEAST;
    if (ways > worth) ways = worth;
    if (ways > most) ways = most;
    if (ways < 2) return of;
    of.split = rest;
    of.ways = ways;
    if (tiles < fit) of.shares = rest * ways;
    return of;
}
