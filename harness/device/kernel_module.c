/* kernel_module.c - a program without CUDA runs no kernel. Where device/cuda/kernel_module_cuda.c
 * is linked too, its functions take the place of these weak ones. */
#include "device/kernel_module.h"

#include "assay.h"

static int without(void)
{
    return assay_error("this program was built without CUDA");
}

__attribute__((weak)) int kernel_module_capability(int *sm, int *shown)
{
    *sm = *shown = 0;
    return without();
}

__attribute__((weak)) void kernel_module_limit(int sm)
{
    (void)sm;
}

__attribute__((weak)) int kernel_module_load(struct kernel_module **module,
                                             const struct kernel_image *image, const char *kernel,
                                             const struct kernel_launch *launch)
{
    (void)image, (void)kernel, (void)launch;
    *module = NULL;
    return without();
}

__attribute__((weak)) void kernel_module_unload(struct kernel_module *module)
{
    (void)module;
}

__attribute__((weak)) int kernel_module_launch(const struct kernel_module *module,
                                               const struct kernel_launch *launch,
                                               void **parameters, void *stream)
{
    (void)module, (void)launch, (void)parameters, (void)stream;
    return without();
}

__attribute__((weak)) int kernel_memory_alloc(void **memory, size_t bytes)
{
    (void)bytes;
    *memory = NULL;
    return without();
}

__attribute__((weak)) void kernel_memory_free(void *memory)
{
    (void)memory;
}

__attribute__((weak)) int kernel_memory_read(void *host, const void *memory, size_t bytes,
                                             void *stream)
{
    (void)host, (void)memory, (void)bytes, (void)stream;
    return without();
}
