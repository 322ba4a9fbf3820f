/*
 * module_set.h - the modules that a process has loaded, kept so that a kernel that is launched can
 * be looked up in them: which code it is, and how large its parameters are. Pure.
 */
#pragma once

#include "device/cuda/cubin_identity.h"
#include "device/kernel_image.h"

struct module_set;

struct module_kernel {
    int modules;           /* that have a kernel of this name; 0: none was seen loading */
    struct code_hash code; /* of all of these, each as a whole (cubin_identity) */
    int parameters;        /* -1: not known */
    int parameter_bytes[KERNEL_MAX_PARAMETERS];
};

/* NULL when out of memory. */
struct module_set *module_set_new(void);
void module_set_free(struct module_set *set);

/* Copies the bytes, unless it was seen before or cannot be read. -1 with assay_error: no memory. */
int module_set_add(struct module_set *set, const void *cubin, size_t size);

/* The kernel with this linker's name. -1 with assay_error when out of memory. */
int module_set_find(struct module_set *set, const char *name, struct module_kernel *kernel);
