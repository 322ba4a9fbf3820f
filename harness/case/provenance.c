/*
 * provenance.c - the only file that depends on what the build wrote about
 * itself, so that a commit rebuilds this and nothing else.
 */
#include <stdio.h>

#include "case/run_record.h"
#include "provenance.inc" /* written by scripts/provenance.sh into the build folder */

void provenance_program(struct program_info *info)
{
    *info = (struct program_info){0};
    snprintf(info->version, sizeof info->version, "%s", PROVENANCE_VERSION);
    snprintf(info->commit, sizeof info->commit, "%s", PROVENANCE_COMMIT);
    snprintf(info->diff_hash, sizeof info->diff_hash, "%s", PROVENANCE_CHANGES);
    snprintf(info->compiler, sizeof info->compiler, "%s", PROVENANCE_COMPILER);
    snprintf(info->flags, sizeof info->flags, "%s", PROVENANCE_FLAGS);
    snprintf(info->nvcc, sizeof info->nvcc, "%s", PROVENANCE_NVCC);
    snprintf(info->nvcc_flags, sizeof info->nvcc_flags, "%s", PROVENANCE_NVCC_FLAGS);
}
