/*
 * model_ring_box.h - the box of model_ring.cuh's rings: 32 of k of some rows, in the layout in
 * which TMA writes it to shared memory and warps read it.
 */
#pragma once

enum {
    RING_BOX = 32,        /* of k in a box: 128 bytes */
    RING_ROW_BYTES = 128, /* a row of a box */
    RING_UNITS = 8,       /* units of sixteen bytes in such a row */
    RING_ALIGN = 1024,    /* bytes after which the swizzle repeats */
    RING_WARPS = 8,       /* warps that multiply */
    RING_LANES = 32 * RING_WARPS
};
