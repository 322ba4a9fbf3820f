/*
 * tensor_map.h - the descriptors by which Hopper's TMA (tensor memory accelerator) finds tiles of a
 * matrix. The one function of the driver behind them is looked up through the runtime, so nothing
 * is linked to the driver's library.
 */
#pragma once

#include <cuda.h>
#include <stdint.h>

/* A row-major matrix on the device. */
struct tensor_map_matrix {
    void *base; /* 16-byte aligned */
    int64_t rows, columns;
    int element_bytes; /* 2: bf16, 4: fp32; columns * element_bytes a multiple of 16 */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Boxes of so many rows (at most 256) of 128 bytes, swizzled by 128 bytes in shared memory;
 * loads give zeros outside the matrix and stores write nothing there. 0, or -1. */
int tensor_map_init(CUtensorMap *map, const struct tensor_map_matrix *matrix, int box_rows);

#ifdef __cplusplus
}
#endif
