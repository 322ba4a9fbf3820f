/*
 * comparison_words.h - texts that the formats of a comparison share.
 */
#ifndef COMPARISON_WORDS_H
#define COMPARISON_WORDS_H

#include "judge/comparison.h"

enum { WORDS_LINE = 512 };

/* "assay 0.1.0 (1a2b3c4d, changed), NVIDIA H200, driver 580, 6 launches, run 3f2a91c0". */
void side_text(const struct comparison_side *side, char out[WORDS_LINE]);
/* "2 REGRESSED, 1 INCONCLUSIVE, 197 PASS". */
void counts_text(const struct comparison *comparison, char out[WORDS_LINE]);
/* The most frequent reason of the rows; "" if none has one. */
const char *reason_of_most(const struct comparison *comparison);
/* Why nothing could be compared: that the runs have no common case, and how their conditions
 * differ; otherwise the most frequent reason. */
void nothing_text(const struct comparison *comparison, char out[WORDS_LINE]);
/* The heading of the column of ratios, which names the metric. */
const char *metric_text(const struct comparison *comparison);
/* The reason and the tags; "" for none. */
void why_text(const struct comparison_row *row, char out[WORDS_LINE]);

#endif
