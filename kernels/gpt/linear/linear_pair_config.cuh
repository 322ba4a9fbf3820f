/*
 * linear_pair_config.cuh - the sizes of a tile of linear_pair.cuh.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "linear_pair.h"

enum {
    PAIR_ALIGN = 1024,
    PAIR_ALONE_BYTES = 216 * 1024, /* of stages, of a block that is alone on a multiprocessor */
    PAIR_MOST = 8, /* stages: with ten, 1024 x 768 x 3072 took up to 10 % longer by 64 x 96 */
    PAIR_DEPTH = WGMMA_ROW_BYTES / 2, /* of k, a stage */
    PAIR_PANEL = WGMMA_ROW_BYTES / 2, /* columns of y that TMA stores at a time */
    PAIR_TWO_WIDTH = 128, /* columns of a warpgroup whose registers leave room for a second block */
};

/* Tiles of DOWN x ACROSS warpgroups, each with 64 rows of x and WIDTH columns. */
template <typename T, int DOWN_, int ACROSS_, int WIDTH_> struct pair_config {
    using type = T;
    static constexpr int DOWN = DOWN_, ACROSS = ACROSS_, WIDTH = WIDTH_;
    static constexpr int CONSUMERS = DOWN * ACROSS * WGMMA_THREADS, THREADS = CONSUMERS + 32;
    static constexpr int ROWS = DOWN * WGMMA_ROWS, COLUMNS = ACROSS * WIDTH;
    static constexpr int X_BYTES = ROWS * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = X_BYTES + COLUMNS * WGMMA_ROW_BYTES;
    static constexpr int FIT = PAIR_ALONE_BYTES / STAGE_BYTES;
    static constexpr int MOST = FIT < PAIR_MOST ? FIT : PAIR_MOST; /* stages */
    static constexpr int BLOCKS = WIDTH <= PAIR_TWO_WIDTH && DOWN * ACROSS < 3 ? 2 : 1;
    /* A thread's: its sums and few more, so that a second block fits beside it, or blocks of the
     * kernel before or behind it. */
    static constexpr int REGISTERS = BLOCKS > 1 ? 112 : WIDTH / 2 + 56;
    /* The first of a stage's rows that only one warpgroup reads, and the bytes of each. */
    static constexpr int OWN = DOWN > 1 ? 0 : X_BYTES;
    static constexpr int OWN_BYTES = (DOWN > 1 ? WGMMA_ROWS : WIDTH) * WGMMA_ROW_BYTES;
    static constexpr int PANELS = WIDTH / PAIR_PANEL, REST = WIDTH % PAIR_PANEL;
    static constexpr int HELD = PANELS + (REST > 0); /* stages that hold the outputs */
    static_assert(HELD <= MOST && REST % 16 == 0 && OWN_BYTES >= WGMMA_ROWS * WGMMA_ROW_BYTES,
                  "room for outputs");
    static_assert(WIDTH % 8 == 0, "whole swizzles");
};
