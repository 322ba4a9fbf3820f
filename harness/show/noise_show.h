/* noise_show.h - what a database knows of the noise of unchanged code, by device and duration:
 * `assay calibrate --show`. */
#ifndef NOISE_SHOW_H
#define NOISE_SHOW_H

#include <stdio.h>

#include "store/store.h"

/* As a table, md or json. 1: nothing is known, and nothing is written; -1 with assay_error. */
int noise_show(FILE *out, struct store *store, const char *format);

#endif
