/*
 * provenance.h - where the program itself comes from: version, commit,
 * uncommitted changes, compilers and flags, as the build recorded them.
 */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "case/run_record.h"

/* What this program was built from. Without git (an unpacked archive), commit
 * and diff_hash are "unknown"; a text too long for its field is cut. */
void provenance_program(struct program_info *info);

#endif
