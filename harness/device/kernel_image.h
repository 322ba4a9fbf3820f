/*
 * kernel_image.h - the kernels of a file: a cubin, PTX, or CUDA C++ that NVRTC compiles. Needs no
 * GPU: what can be known of a kernel before one is there is known here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { KERNEL_MAX_PARAMETERS = 64 };

struct kernel_entry {
    char *name;     /* as the linker knows it */
    char *plain;    /* without what C++ adds: "scale" of _ZN1a5scaleIfEvPT_ */
    int parameters; /* -1: not known */
    int parameter_bytes[KERNEL_MAX_PARAMETERS];
    int registers;   /* of a thread; -1: not known */
    int max_threads; /* of a block, as __launch_bounds__ has it; 0: not said */
};

struct kernel_image {
    bool is_ptx;
    char *bytes; /* a 0 behind them */
    size_t size;
    int sm; /* compute capability x 10 of the machine code, the lowest one of PTX; 0: not known */
    int count;
    struct kernel_entry *kernels;
    char *instance; /* of a template that was asked for: the linker's name of it; NULL: none */
};

/* Whether the name ends in .cu, .cubin or .ptx. */
bool kernel_image_is_source(const char *path);
bool kernel_image_is_file(const char *path);

/* Read the bytes of a cubin or of PTX, and list the kernels. Takes `bytes` (malloc) over, whatever
 * happens. -1 with assay_error. */
int kernel_image_read(struct kernel_image *image, char *bytes, size_t size);

/* Read a file; of a .cu file the source is read and compiled. `arch`: "sm_90a", or "compute_80" for
 * PTX. `options` are NVRTC's, with blanks between them. `kernel` is the one that is wanted, so that
 * an instance of a template is made. What the compiler says goes to standard error, and the first
 * error into assay_error. */
int kernel_image_open(struct kernel_image *image, const char *path, const char *arch,
                      const char *options, const char *kernel);
void kernel_image_release(struct kernel_image *image);

/* The kernel of this name, as the linker knows it or plain. NULL with assay_error: none (with a
 * name that is near), or several. */
const struct kernel_entry *kernel_image_find(const struct kernel_image *image, const char *name);

/* All of a file, with a 0 behind its bytes; free(3). NULL with assay_error. At most 1 GiB. */
char *kernel_file_read(const char *path, size_t *size);

/* "scale" of "_ZN1a5scaleIfEEvPT_"; the name itself where it is no mangled name. malloc. */
char *kernel_plain_name(const char *name);
