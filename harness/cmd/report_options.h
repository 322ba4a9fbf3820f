/*
 * report_options.h - values of options that compare, gate and calibrate share.
 * Each returns 0, or -1 with assay_error.
 */
#ifndef REPORT_OPTIONS_H
#define REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* "2.5" as the fraction 0.025; above 0 and at most 1000. */
int option_percent(const char *name, const char *text, double *fraction);

/* A whole number in [least, most]. */
int option_count(const char *name, const char *text, int least, int most, int *count);

/* time or speedup. */
int option_metric(const char *text, bool *speedup);

/* A whole number of 64 bits. */
int option_seed(const char *text, uint64_t *seed);

#endif
