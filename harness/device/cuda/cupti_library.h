/*
 * cupti_library.h - loads CUPTI, once per process, and turns its results into messages.
 * Only for files that include CUPTI's headers.
 */
#pragma once

/* Load the library. It is never unloaded, because CUPTI's threads may run in it until the
 * process ends. NULL with assay_error. */
void *cupti_library(void);

/* 0 for CUPTI_SUCCESS, or -1 with assay_error; `call` is the name of the function. */
int cupti_check(int result, const char *call);
