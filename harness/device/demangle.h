/*
 * demangle.h - the readable name of a kernel.
 */
#pragma once

#include <stddef.h>

/* "scale(float*, int)" for "_Z5scalePfi", cut at `size`. A name that is not mangled stays as it is,
 * and so do all in a program that was built without CUDA, and so without a C++ runtime. */
void demangle(const char *mangled, char *out, size_t size);

/* The short name of a kernel, which tables show and a case is called by: a demangled name without
 * its return type, namespaces, parameters and blanks: "softmax<float,4>" for "void (anonymous
 * namespace)::softmax<float, 4>(float*, int)". Cut at `size`. A name that is not of this form stays
 * as it is, but for its blanks. */
void kernel_short_name(const char *demangled, char *out, size_t size);
