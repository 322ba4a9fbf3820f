/*
 * comparison_formats.h - writes a comparison in each format, and the texts that formats share.
 * All formats escape their input. Functions return 0, or -1 with assay_error.
 */
#pragma once

#include <stdio.h>

#include "base/units.h"
#include "judge/comparison.h"

struct comparison_options {
    const char *format; /* table, md, json, html, junit */
    bool colour;
    bool all;  /* of the table: also the unchanged cases on a terminal */
    int width; /* columns of the terminal; 0: none, so nothing is cut or folded */
};

int comparison_write(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options);
/* Into a file; NULL: standard output, with the terminal's colour and width. `all` as above. */
int comparison_save(const struct comparison *comparison, const char *format, const char *path,
                    bool all);

int comparison_table(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options);
int comparison_md(FILE *out, const struct comparison *comparison);
int comparison_json(FILE *out, const struct comparison *comparison);
struct json;
/* A side as a member of a document. */
void comparison_side_member(struct json *json, const char *key, const struct comparison_side *side);
int comparison_html(FILE *out, const struct comparison *comparison);
/* The sides, the notes and the rows, for a page that has more (page.h). */
int comparison_html_part(FILE *out, const struct comparison *comparison);
/* JUnit XML: one testcase per case. REGRESSED is a failure, ERROR and MISSING are errors, an
 * undecided case is skipped with its message. If too little was judged (exit code 4), there is one
 * more error. */
int comparison_junit(FILE *out, const struct comparison *comparison);
/* GitHub workflow commands, slower cases first, at most ten of each kind, as the runner shows no
 * more. */
int comparison_annotations(FILE *out, const struct comparison *comparison);

/* ------------------------------------------------------------------- texts -- */

enum { WORDS_LINE = 512 };

/* "assay 0.1.0 (1a2b3c4d, changed), NVIDIA H200, driver 580, 6 launches, run 3f2a91c0". */
void side_text(const struct comparison_side *side, char out[WORDS_LINE]);
/* "2 REGRESSED (1 acknowledged), 1 INCONCLUSIVE, 197 PASS". */
void counts_text(const struct comparison *comparison, char out[WORDS_LINE]);
/* The most frequent reason of the rows, or of those that both sides have; "" if none has one. */
const char *reason_of_most(const struct comparison *comparison, bool common_only);
/* Why nothing could be compared: that the runs have no common case, and how their conditions
 * differ; otherwise the most frequent reason. */
void nothing_text(const struct comparison *comparison, char out[WORDS_LINE]);
/* Why a gate ends with EXIT_NOTHING, as one sentence: nothing could be compared, too few cases
 * were judged, or the candidate redefined some. */
void unjudged_text(const struct comparison *comparison, char out[WORDS_LINE]);
/* The heading of the column of changes, which names the metric. */
const char *metric_text(const struct comparison *comparison);

/* How the suite of a stored run is named in a command that measures it again. */
enum { SUITE_WORD = 512 };

/* Kernels of files (assay bench) and of other programs (assay time) are in no suite. */
bool suite_word_is_there(const struct comparison_side *side);

/* Its name, or its file as the command that measured it has it. false with "SUITE" in `out`: the
 * file is not found. */
bool suite_word_of(const struct comparison_side *side, char out[SUITE_WORD]);

/* A row as texts. */
struct comparison_words {
    const char *verdict;
    char name[CASE_TEXT], base[UNITS_MAX], candidate[UNITS_MAX];
    char change[UNITS_MAX], ratio[4 * UNITS_MAX]; /* without and with its interval */
    char floor[UNITS_MAX], finds[UNITS_MAX];
    char why[WORDS_LINE]; /* the reason and the tags; "" for none */
};
void comparison_words(struct comparison_words *words, const struct comparison_row *row);

/* How a verdict looks: red, yellow, green. */
enum mood { MOOD_BAD, MOOD_OPEN, MOOD_GOOD, MOOD_PLAIN };
enum mood verdict_mood(enum verdict verdict);
