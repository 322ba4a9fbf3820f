/*
 * linear_swapped_fit.cuh - how a tile of linear_swapped.cu fits a shape: its bands, blocks and
 * shared memory, and about how long it takes.
 */
#pragma once

#include <math.h>

#include "linear_swapped_tiles.cuh"

enum {
    SWAPPED_LEAST = 2,               /* stages of a part */
    SWAPPED_PAIR_BYTES = 111 * 1024, /* of stages, of two blocks on a multiprocessor */
    SWAPPED_PROCESSOR_BYTES = 228 * 1024,
    SWAPPED_OTHER_BYTES = 2048,   /* barriers, and what the system keeps */
    SWAPPED_GRID_MOST = 65535,    /* blocks along y or z */
    SWAPPED_TURNS_MOST = 1 << 21, /* tiles whose numbers swapped_turn divides exactly */
};

/* How outputs get to y. */
static int finish_of(const struct swapped_tile *of, const struct linear_swapped_how *how,
                     const struct linear_operands *operands)
{
    const int64_t bytes = operands->n * of->output_bytes;
    if (how->apart) return LINEAR_SWAPPED_APART;
    if (how->parts > 1) return LINEAR_SWAPPED_SUMS;
    if (of->rows <= SWAPPED_DIRECT && bytes % 4 == 0) return LINEAR_SWAPPED_DIRECT;
    return of->rows > SWAPPED_DIRECT && bytes % 16 == 0 ? LINEAR_SWAPPED_PANELS
                                                        : LINEAR_SWAPPED_SUMS;
}

static int wide_of(const struct swapped_tile *of, const struct linear_swapped_how *how)
{
    return of->columns - how->narrow;
}

/* Rows of x of a band, all but the last alike. Those that TMA moves in two boxes are whole swizzles
 * each. */
static int rows_of(const struct swapped_tile *of, const struct linear_operands *operands)
{
    const int rows = (int)gpt_blocks(operands->m, gpt_blocks(operands->m, of->rows));
    return of->rows > SWAPPED_BOX ? (int)gpt_blocks(rows, 16) * 16 : rows;
}

static int bands_of(const struct swapped_tile *of, const struct linear_operands *operands)
{
    return (int)gpt_blocks(operands->m, rows_of(of, operands));
}

static int64_t tiles_of(const struct swapped_tile *of, const struct linear_swapped_how *how,
                        const struct linear_operands *operands)
{
    return (int64_t)bands_of(of, operands) * gpt_blocks(operands->n, wide_of(of, how));
}

/* As many parts of a tile as give each multiprocessor a block. */
static int parts_apart(const struct swapped_tile *of, const struct linear_swapped_how *how,
                       const struct linear_operands *operands)
{
    const int64_t fit = assay_card()->multiprocessors / tiles_of(of, how, operands);
    return fit < LINEAR_SWAPPED_PARTS ? (int)fit : LINEAR_SWAPPED_PARTS;
}

/* Whether there is memory for the sums of all parts. */
static bool has_room(const struct swapped_tile *of, const struct linear_swapped_how *how,
                     const struct linear_operands *operands)
{
    const int64_t blocks = tiles_of(of, how, operands) * how->parts;
    const int64_t sums = blocks * of->rows * of->columns;
    return how->parts <= LINEAR_SWAPPED_PARTS && blocks <= assay_card()->multiprocessors &&
           sums <= (int64_t)assay_card()->multiprocessors * TILE_PARTS_SUMS;
}

/* Whether blocks have several tiles to take, or no other kernel has this tile, and k has more
 * stages than outputs take the place of. */
static bool may_stay(const struct swapped_tile *of, const struct linear_swapped_how *how,
                     const struct linear_operands *operands)
{
    const int64_t tiles = tiles_of(of, how, operands);
    return of->turns && how->parts == 1 && !how->shares && !how->apart &&
           finish_of(of, how, operands) == LINEAR_SWAPPED_PANELS &&
           (int)gpt_blocks(operands->k, of->depth) > of->kept &&
           (tiles > assay_card()->multiprocessors || !of->kernel) && tiles < SWAPPED_TURNS_MOST;
}

/* Whether k has stages for the parts, the grid room for the columns, and each block another to
 * share with. */
static bool suits(const struct swapped_tile *of, const struct linear_swapped_how *how,
                  const struct linear_operands *operands)
{
    if (how->parts > 1 && (int)gpt_blocks(operands->k, of->depth) < SWAPPED_LEAST * how->parts)
        return false;
    if (how->shares && (!of->by_tma || how->parts > 1 || bands_of(of, operands) % 2)) return false;
    if (how->apart && !has_room(of, how, operands)) return false;
    if (how->turns ? !may_stay(of, how, operands) : !of->kernel) return false;
    return gpt_blocks(operands->n, wide_of(of, how)) <= SWAPPED_GRID_MOST;
}

/* A tile's stages in shared memory, and how many blocks then are on a multiprocessor: two where
 * there are enough blocks and three stages fit, or one with as many as it has room for. */
struct swapped_room {
    int stages, bytes, together;
};

static struct swapped_room room_of(const struct swapped_tile *of,
                                   const struct linear_swapped_how *how,
                                   const struct linear_operands *operands)
{
    const int64_t blocks = tiles_of(of, how, operands) * how->parts;
    const int needed = (int)gpt_blocks(gpt_blocks(operands->k, of->depth), how->parts);
    const int pair = SWAPPED_PAIR_BYTES / of->stage_bytes;
    const bool two =
        !how->turns && of->together > 1 && pair >= 3 && blocks > assay_card()->multiprocessors;
    int stages = two && pair < of->stages ? pair : of->stages;
    if (of->by_tma && !how->turns && stages > needed) stages = needed;
    const int ring = stages * of->stage_bytes;
    const int bytes = SWAPPED_ALIGN + (ring > of->sums_bytes ? ring : of->sums_bytes);
    const int fit = SWAPPED_PROCESSOR_BYTES / (bytes + SWAPPED_OTHER_BYTES);
    return {stages, bytes, fit < of->together ? fit : of->together};
}

/* About how many cycles a product takes. Of one multiprocessor: its blocks' stages, each as long as
 * its products, as what these read and write of shared memory at 128 bytes per cycle, as its rows
 * get to it, or as those of all multiprocessors come out of L2 or get to them, but no sooner than
 * the operands come from memory; what each round of blocks that fit takes besides; and what parts
 * of k take to meet. The numbers fit 2534 times of 54 shapes on an H200 (9 % off in the middle):
 * the fastest was within 2.3 % of one of the first twelve, on average 0.2 %. Blocks that stay are
 * not seen to wait for shared memory, get more out of L2, and begin but once: that fits 145 times
 * of 14 shapes (1.2 % off). The pause of a warpgroup in e4m3, which the products of others must
 * hide, is not fitted. Of equal ones two bands that share w come first: they were up to 19 %
 * faster, and where there are more bands up to 3 % slower.
 */
static double expected_cycles(const struct swapped_tile *of, const struct linear_swapped_how *how,
                              const struct linear_operands *operands)
{
    const int parts = how->parts, wide = wide_of(of, how),
              processors = assay_card()->multiprocessors;
    const double bands = bands_of(of, operands), rows = rows_of(of, operands);
    const double tiles = (double)tiles_of(of, how, operands) * parts, outputs = rows * wide;
    const double active = fmin(tiles, processors), blocks = ceil(tiles / processors);
    const double together = room_of(of, how, operands).together, rounds = ceil(blocks / together);
    const double stages = ceil((double)gpt_blocks(operands->k, of->depth) / parts);
    const double groups = of->columns / WGMMA_ROWS, row_bytes = active * WGMMA_ROW_BYTES;
    const double alone = of->pause > 0 ? (2 * of->rows + of->pause) / fmin(blocks, together) : 0;
    const double products = fmax(2 * groups * of->rows, alone),
                 from_l2 = rows + wide / (how->shares ? 2.0 : 1);
    const double shared = how->turns ? 0 : groups * of->rows + of->columns + rows + wide;
    const double fetched =
        fmax(1.83 * (rows + wide),
             row_bytes * fmax(from_l2 / (how->turns ? 8260 : 6300), (rows + wide) / 8260));
    const double operand_rows = (double)operands->m + (double)operands->n;
    const double memory = operand_rows * operands->k / of->depth * WGMMA_ROW_BYTES / 2290;
    const double storing = how->apart ? outputs / 3.4 : outputs / (parts > 1 ? 2.7 : 11);
    const double sums_bytes = active * outputs * 2 * sizeof(float); /* written and read */
    const double begins = how->turns ? 1 + 0.1 * (blocks - 1) : rounds;
    const double meeting = how->apart ? 4770 + sums_bytes / 8600 : parts > 1 ? 4100 : 0;
    return fmax(blocks * stages * fmax(fmax(products, shared), fetched), memory) +
           begins * (4930 + storing) + meeting + of->rows / 4.0 -
           (how->shares && bands == 2 ? 1 : 0);
}
