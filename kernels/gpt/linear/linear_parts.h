/*
 * linear_parts.h - tiles that several blocks compute, each a part of k: the division of the work. A
 * stage is a step of k of one tile, the unit of time. Pure, for the host too.
 *
 * The stages of the first `split` tiles are cut into equal shares, one per block (or cluster),
 * wherever that falls; every other tile belongs to one block. So a share begins or ends within a
 * tile. The block that has a tile's first stages is the one that stores it; it adds the sums of the
 * blocks that go on with the tile, in the order of k, so that the result does not depend on
 * who is first. The others have begun with that tile, at the time when the one that stores it was
 * elsewhere, and have mostly finished it long ago. ("Stream-K": Osama, Merrill, Cecka, Garland and
 * Owens, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on
 * the GPU", PPoPP 2023, section 4.)
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

/* Where a share is. */
struct linear_walk {
    int share, shares;
    int tiles, split, depth; /* of all shares; stages in a tile */
    int at, end;             /* stages of the divided tiles */
    int whole;               /* the next tile that is not divided */
};

/* The first stage of a share, counted over all divided tiles: their stages times share / shares. In
 * 32 bits: a division in 64 takes as long as a stage. */
LINEAR_PARTS_FUNCTION int linear_walk_begin(const struct linear_walk *walk, int share)
{
    int stages = walk->split * walk->depth, each = stages / walk->shares;
    return each * share + (stages - each * walk->shares) * share / walk->shares;
}

/* The end of a divided tile, counted so too. */
LINEAR_PARTS_FUNCTION int linear_walk_end(const struct linear_walk *walk, int tile)
{
    return (tile + 1) * walk->depth;
}

LINEAR_PARTS_FUNCTION struct linear_walk linear_walk_of(int share, int shares, int tiles, int split,
                                                        int depth)
{
    struct linear_walk walk = {share, shares, tiles, split, depth, 0, 0, split + share};
    if (split == 0) return walk; /* no division before the first load */
    walk.at = linear_walk_begin(&walk, share);
    walk.end = linear_walk_begin(&walk, share + 1);
    return walk;
}

LINEAR_PARTS_FUNCTION bool linear_walk_more(const struct linear_walk *walk)
{
    return walk->at < walk->end || walk->whole < walk->tiles;
}

/* The next unit of the share; false at its end. */
LINEAR_PARTS_FUNCTION bool linear_walk_next(struct linear_walk *walk, struct linear_unit *unit)
{
    if (!linear_walk_more(walk)) return false;
    if (walk->at < walk->end) {
        int tile = walk->at / walk->depth, begin = walk->at % walk->depth;
        int left = walk->end - walk->at, rest = walk->depth - begin;
        int stages = left < rest ? left : rest;
        *unit = (struct linear_unit){tile, begin, begin + stages};
        walk->at += stages;
    } else {
        *unit = (struct linear_unit){walk->whole, 0, walk->depth};
        walk->whole += walk->shares;
    }
    return true;
}

/* How many tiles to divide among `shares`, so that all have equally many stages. With more tiles
 * than shares, the last whole round is divided with the rest, so that a share never has less than a
 * tile's stages and its sums are exchanged once. */
LINEAR_PARTS_FUNCTION int linear_parts_split(int tiles, int shares)
{
    int rest = tiles % shares;
    if (rest == 0) return 0;
    return tiles < shares ? tiles : shares + rest;
}

/* Fewer stages than this are not worth the exchange of their sums. */
enum { LINEAR_PARTS_LEAST = 4 };

/* How many shares there are, where `fit` blocks are on the device at a time: at least one per tile,
 * as far as they fit, and each with a stage. */
LINEAR_PARTS_FUNCTION int linear_parts_shares(int tiles, int split, int depth, int fit)
{
    int64_t worth = (int64_t)split * depth / LINEAR_PARTS_LEAST;
    int64_t most = worth > tiles ? worth : tiles;
    return fit < most ? fit : (int)most;
}
