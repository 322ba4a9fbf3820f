/*
 * suite_text.h - lines of the text that a run keeps of its suite, which was checked when the
 * run was made. Pure.
 */
#ifndef SUITE_TEXT_H
#define SUITE_TEXT_H

#include "assay.h"

/* The label of "[group LABEL]" or the id of "[claim ID]", blanks as they come; "" for any
 * other line that begins with a bracket. */
void suite_text_heading(const char *line, char label[ASSAY_MAX_NAME]);

/* What stands behind "KEY =", or NULL where the line is not of that key. Ends with the line or
 * with the text. */
const char *suite_text_value(const char *line, const char *key);

#endif
