/*
 * cubin_kernels.h - what a cubin and PTX say of their kernels. Pure.
 *
 * A cubin has a section .nv.info.NAME per kernel: a list of attributes, of which the sizes of the
 * parameters and the limit of threads are read, and in .nv.info the registers of each. NVIDIA
 * documents the tool that prints them (CUDA Binary Utilities, cuobjdump -elf), not the format: an
 * attribute that is not understood is left out, and what it would say is not known.
 */
#pragma once

#include "device/kernel_image.h"

/* Fill kernels, count and sm of an image that has bytes. -1 with assay_error. */
int cubin_read_kernels(struct kernel_image *image);
int ptx_read_kernels(struct kernel_image *image);

/* What the section .nv.info.NAME says of the kernel NAME: parameters and the limit of threads. */
struct elf_section;
void cubin_read_kernel(struct kernel_entry *kernel, const struct elf_section *section);

/* The kernel of this linker's name; NULL: none. */
struct kernel_entry *kernel_image_named(const struct kernel_image *image, const char *name);

/* Append a kernel of this name, of which nothing else is known. NULL with assay_error. */
struct kernel_entry *kernel_image_add(struct kernel_image *image, const char *name, size_t length);
