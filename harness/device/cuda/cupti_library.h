/*
 * cupti_library.h - CUPTI itself: found and loaded once a process, and its
 * results in words. Only for the files that include CUPTI's headers.
 */
#ifndef CUPTI_LIBRARY_H
#define CUPTI_LIBRARY_H

/* The loaded library, which stays loaded: CUPTI's threads may run in it to the
 * end. NULL with assay_error. */
void *cupti_library(void);

/* 0 for CUPTI_SUCCESS, or -1 with assay_error; `call` is what was asked of CUPTI. */
int cupti_check(int result, const char *call);

#endif
