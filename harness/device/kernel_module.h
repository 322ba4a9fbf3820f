/*
 * kernel_module.h - runs a kernel of an image on the GPU that this process has opened, by the CUDA
 * driver. Functions return 0, or -1 with assay_error; a build without CUDA has none of them.
 */
#pragma once

#include "device/kernel_image.h"

struct kernel_module; /* a loaded image and one kernel of it */

struct kernel_launch {
    unsigned grid[3], block[3];
    unsigned cluster[3]; /* 0, 0, 0: none */
    unsigned shared_bytes;
};

/* The compute capability x 10 of the GPU, and that which it shows (`--device cuda:0,sm=80`). */
int kernel_module_capability(int *sm, int *shown);

/* Show no more than this one; 0: all. */
void kernel_module_limit(int sm);

/* Load it for launches of the kernel with such shared memory and clusters as `launch` has. */
int kernel_module_load(struct kernel_module **module, const struct kernel_image *image,
                       const char *kernel, const struct kernel_launch *launch);
void kernel_module_unload(struct kernel_module *module); /* NULL: nothing */

/* Enqueue on a cudaStream_t. `parameters` points to the value of each. */
int kernel_module_launch(const struct kernel_module *module, const struct kernel_launch *launch,
                         void **parameters, void *stream);

/* Memory of the GPU, and from it to the host once what `stream` has is done. */
int kernel_memory_alloc(void **memory, size_t bytes);
void kernel_memory_free(void *memory);
int kernel_memory_read(void *host, const void *memory, size_t bytes, void *stream);
