/* gpt_room.h - device memory of a variant's own, or the reason why its case is skipped. */
#ifndef GPT_ROOM_H
#define GPT_ROOM_H

#include "gpt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For setup to return: 0, and `bytes` are in call->workspace_bytes; -1 with assay_error; or
 * ASSAY_SKIP with the bytes needed and there. *memory, which cudaFree takes, is NULL unless 0. */
int gpt_room(struct assay_call *call, void **memory, int64_t bytes, const char *what);

#ifdef __cplusplus
}
#endif

#endif
