/*
 * case_name.h - how a case is written, and which cases a pattern names: the same in all
 * that the program prints and takes. Pure.
 */
#pragma once

#include "base/text.h"
#include "case/result.h"

enum { CASE_TEXT = 2 * ASSAY_MAX_NAME + RESULT_MAX_SHAPE + 16 };

/* "int8_quantize/best n=5000000 input=fp32 cold". Behind it " host" or " cuda" may stand, for
 * who shows a variant at both places. */
void case_text(const struct case_id *id, char out[CASE_TEXT]);

/* Its group: "int8_quantize n=5000000 input=fp32 cold". */
void case_group_text(const struct case_id *id, char out[CASE_TEXT]);

/* Whether a pattern names the case, which NULL does with every one: the text of the case as
 * printed, or words with blanks between. The first is a glob on operation/variant, or on the
 * operation alone; each other one is a glob on a word of the shape or on the temperature, or a
 * place, in any order. Several patterns stand with commas between: any of them. Older versions
 * wrote a comma before the temperature and the place, so a comma before these parts nothing. */
bool case_matches(const char *pattern, const struct case_id *id);

/* The names of a case, for what one may have meant. */
struct case_names {
    const char *operation, *variant;
};
static inline struct case_names case_names_of(const struct case_id *id)
{
    return (struct case_names){id->operation, id->variant};
}

/* The case nearest to the first word of a pattern: "operation/variant", with a star for the variant
 * where none is near. False with "" in `out` where no operation is. */
bool case_nearest(const char *pattern, const struct case_names *cases, int count,
                  char out[2 * ASSAY_MAX_NAME]);

/* " (did you mean 'x'?)" with that case; "" where none is near, or the first word was right.
 * Returns `out`. */
const char *case_hint(char out[TEXT_HINT], const char *pattern, const struct case_names *cases,
                      int count);

/* Whether a word can stand behind the first of a pattern, for "there is no such word". */
bool case_is_word(const char *word);
