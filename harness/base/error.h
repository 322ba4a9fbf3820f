/*
 * error.h - the text of the last failure, one per thread. assay_error (assay.h) sets it
 * and returns -1; the function that reports the failure reads it here.
 */
#pragma once

/* The text of the last assay_error of this thread; "" if none since the clear. */
const char *assay_last_error(void);
void assay_clear_error(void);

/* assay_error (assay.h), where failing is another result than its -1: return assay_error_as(NULL,
 * "no such row"). */
#define assay_error_as(result, ...) (assay_error(__VA_ARGS__), (result))
