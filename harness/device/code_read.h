/*
 * code_read.h - where the machine code of two built programs differs, by the disassemblers that are
 * installed: objdump for the host's, cuobjdump (CUDA Toolkit) for that of GPUs. No GPU is needed.
 */
#pragma once

#include "assay.h"
#include "device/code_listing.h"

struct code_difference {
    struct code_listing listing[2]; /* base and candidate */
    struct code_changes changes;
    char lacks[ASSAY_MAX_REASON]; /* what could not be read, and why; "" nothing */
};

/* Of two files each: a program or a shared object. Of a program that is a script, its variants
 * (libassay_variants.so beside it). Of kernels only those are disassembled whose bytes differ.
 * 0, or -1 with assay_error; code_difference_release frees. */
int code_difference_read(struct code_difference *difference, const char *base,
                         const char *candidate);
void code_difference_release(struct code_difference *difference);
