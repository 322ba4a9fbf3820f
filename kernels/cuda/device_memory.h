/*
 * device_memory.h - device memory that a variant allocates in setup and frees in teardown. Where
 * the device has too little left, the case is skipped with the reason and does not fail.
 */
#pragma once

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates `bytes` of device memory and adds them to call->workspace_bytes. 0; -1 with
 * assay_error; or ASSAY_SKIP with the reason, which begins with `what`, as the error. Setup returns
 * this status. *memory is to be freed with cudaFree, and is NULL unless 0 is returned. */
int device_memory(struct assay_call *call, void **memory, int64_t bytes, const char *what);

/* Copies to device memory and waits until it is there: cudaMemcpy may return before, and no kernel
 * on the call's stream waits for it. 0, or -1 with assay_error, which begins with `what`. */
int device_upload(void *to, const void *from, size_t bytes, const char *what);

/* The teardown of a variant whose call->state is device memory, or NULL. */
void device_memory_free(struct assay_call *call);

#ifdef __cplusplus
}
#endif
