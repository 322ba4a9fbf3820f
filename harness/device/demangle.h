/*
 * demangle.h - the readable name of a kernel.
 */
#pragma once

#include <stddef.h>

/* "scale(float*, int)" for "_Z5scalePfi", cut at `size`. A name that is not mangled stays as it is,
 * and so do all in a program that was built without CUDA, and so without a C++ runtime. */
void demangle(const char *mangled, char *out, size_t size);
