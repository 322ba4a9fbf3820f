/* fuzz_kernel_image.c - a file that somebody calls a kernel: a cubin, PTX. */
#include "device/kernel_image.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kernel_image image;
    char *bytes = calloc(1, size + 1);
    memcpy(bytes, data, size);
    if (kernel_image_read(&image, bytes, size) != 0) return 0;
    for (int i = 0; i < image.count; i++) {
        const struct kernel_entry *kernel = &image.kernels[i];
        fuzz_check(kernel->parameters <= KERNEL_MAX_PARAMETERS, "parameters are within their list");
        if (i < 100) kernel_image_find(&image, kernel->plain);
    }
    kernel_image_release(&image);
    return 0;
}
