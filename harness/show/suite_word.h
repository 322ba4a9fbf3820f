/*
 * suite_word.h - how the suite of a stored run is named in a command that measures it again.
 */
#pragma once

#include "judge/comparison.h"

enum { SUITE_WORD = 512 };

/* Kernels of files (assay bench) and of other programs (assay time) are in no suite. */
bool suite_word_is_there(const struct comparison_side *side);

/* Its name, or its file as the command that measured it has it. false with "SUITE" in `out`: the
 * file is not found. */
bool suite_word_of(const struct comparison_side *side, char out[SUITE_WORD]);
