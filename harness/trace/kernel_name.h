/*
 * kernel_name.h - the short name of a kernel, which tables show and a case is called by. Pure.
 */
#pragma once

#include <stddef.h>

/* A demangled name without its return type, namespaces, parameters and blanks:
 * "softmax<float,4>" for "void (anonymous namespace)::softmax<float, 4>(float*, int)". Cut at
 * `size`. A name that is not of this form stays as it is, but for its blanks. */
void kernel_short_name(const char *demangled, char *out, size_t size);
