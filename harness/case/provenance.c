/*
 * provenance.c - the only file that includes the build's provenance.inc, so that a new
 * commit recompiles this file and no other.
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
