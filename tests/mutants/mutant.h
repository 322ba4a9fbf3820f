/*
 * mutant.h - included before a mutated file: its variants are registered under the name of the
 * mutant and their own, int8_07_rcp4_fma, so that a mutant stands beside the variant that it was
 * made from. As a plain kernel, since no mutant may become a group's baseline.
 *
 * ASSAY_MUTANT is the name of the mutant, a string.
 */
#pragma once

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif
#include <stdio.h>

#include "assay.h"

#undef ASSAY_REGISTER_OPERATION
#define ASSAY_REGISTER_OPERATION(object)                                                           \
    static const struct assay_operation *const assay_unused_##object __attribute__((unused)) =     \
        &object
#undef ASSAY_REGISTER_LIBRARY
#define ASSAY_REGISTER_LIBRARY(object)
#undef ASSAY_REGISTER_VARIANT
#define ASSAY_REGISTER_VARIANT(object)                                                             \
    static struct assay_variant assay_mutant_##object;                                             \
    static const struct assay_variant *const assay_entry_##object                                  \
        __attribute__((used, section("assay_variants"))) = &assay_mutant_##object;                 \
    __attribute__((constructor)) static void assay_name_##object(void)                             \
    {                                                                                              \
        static char name[2 * ASSAY_MAX_NAME];                                                      \
        snprintf(name, sizeof name, "%s_%s", ASSAY_MUTANT, (object).name);                         \
        assay_mutant_##object = object;                                                            \
        assay_mutant_##object.name = name;                                                         \
        assay_mutant_##object.kind = ASSAY_KERNEL;                                                 \
    }
