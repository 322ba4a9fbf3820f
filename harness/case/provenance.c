/*
 * provenance.c - the only file that includes the build's provenance.inc, so that a new
 * commit recompiles this file and no other.
 */
#include <stdio.h>

#include "base/program_code.h"
#include "case/run_record.h"
#include "provenance.inc" /* written by scripts/provenance.sh into the build folder */

/* What differs between builds of the same code, in fields of one size: what follows in memory is
 * where it would be in a build of another commit. */
static const char version[RESULT_MAX_PROPERTY] PROGRAM_FACT = PROVENANCE_VERSION;
static const char commit[RESULT_MAX_PROPERTY] PROGRAM_FACT = PROVENANCE_COMMIT;
static const char changes[RESULT_MAX_HASH] PROGRAM_FACT = PROVENANCE_CHANGES;

/* The compiler may not copy the text into the code, which it would, knowing it. */
static const char *kept(const char *text)
{
    __asm__("" : "+r"(text));
    return text;
}

void provenance_program(struct program_info *info)
{
    *info = (struct program_info){0};
    snprintf(info->version, sizeof info->version, "%s", kept(version));
    snprintf(info->commit, sizeof info->commit, "%s", kept(commit));
    snprintf(info->diff_hash, sizeof info->diff_hash, "%s", kept(changes));
    snprintf(info->compiler, sizeof info->compiler, "%s", PROVENANCE_COMPILER);
    snprintf(info->flags, sizeof info->flags, "%s", PROVENANCE_FLAGS);
    snprintf(info->nvcc, sizeof info->nvcc, "%s", PROVENANCE_NVCC);
    snprintf(info->nvcc_flags, sizeof info->nvcc_flags, "%s", PROVENANCE_NVCC_FLAGS);
}
