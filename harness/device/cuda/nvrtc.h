/* nvrtc.h - compiles CUDA C++ by NVRTC, which is loaded when it is first needed. Needs no GPU. */
#pragma once

#include <stddef.h>

/* Machine code for `arch` "sm_90a", PTX for "compute_90"; malloc, with a 0 behind it. `path` is
 * what messages call the source, and its folder is searched for includes. `options` may be NULL.
 * Where `kernel` is an instance of a template ("scale<float, 4>"), that instance is made, and
 * *instance (malloc) is its name for the linker; else *instance is NULL. NULL with assay_error: no
 * NVRTC, or the compiler's first error; all that the compiler says is on standard error then. */
char *nvrtc_compile(const char *path, const char *source, const char *arch, const char *options,
                    const char *kernel, size_t *size, char **instance);
