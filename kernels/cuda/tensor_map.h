/*
 * tensor_map.h - the descriptors from which Hopper's TMA (tensor memory accelerator) takes the
 * layout of a matrix. The driver's function that makes them is looked up through the runtime, so
 * that the program is not linked to the driver's library.
 */
#pragma once

#include <cuda.h>
#include <stdint.h>

/* A row-major matrix on the device. */
struct tensor_map_matrix {
    void *base; /* 16-byte aligned */
    int64_t rows, columns;
    int element_bytes; /* 1, 2 or 4: bytes, bf16, fp32; columns times it a multiple of 16 */
};

/* Heads of numbers of one or two bytes, [sequences, tokens, heads, size] with `stride` elements
 * from token to token, of which `heads` heads are mapped. */
struct tensor_map_heads {
    const void *base; /* 16-byte aligned */
    int64_t sequences, tokens, heads;
    int64_t size, stride; /* multiples of 16 bytes */
    int element_bytes;    /* 1: bytes, 2: bf16 */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Make a map of boxes of so many rows (at most 256) of 128 bytes, swizzled by 128 bytes in shared
 * memory. Outside the matrix, loads give zeros and stores write nothing. 0, or -1. */
int tensor_map_init(CUtensorMap *map, const struct tensor_map_matrix *matrix, int box_rows);

/* The same of 128 bytes of one head by `box_tokens` tokens of one sequence: the coordinates are
 * (number, head, token, sequence), and tokens behind the last of the sequence are outside. */
int tensor_map_init_heads(CUtensorMap *map, const struct tensor_map_heads *heads, int box_tokens);

#ifdef __cplusplus
}
#endif
