/*
 * variants.c - makes a shared object of all variants of a build (libassay_variants.so), of the
 * files that its program is linked from: assay.h defines assay_object here, as in any object. It is
 * not part of the program.
 */
#include "provenance.inc"

#define ASSAY_OBJECT_COMMIT PROVENANCE_COMMIT
#include "assay.h"
