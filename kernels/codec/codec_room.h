/* codec_room.h - device memory for a variant, or the reason why its case is skipped. */
#ifndef CODEC_ROOM_H
#define CODEC_ROOM_H

#include "codec.h"

/* What setup returns: 0; -1 with assay_error; or ASSAY_SKIP with the bytes needed and there.
 * *memory is NULL unless 0. `what` is a plural: "layers". */
int codec_room(void **memory, int64_t bytes, const char *what);

#endif
