/* codec_room_cuda.c - see codec_room.h. */
#include "codec_room.h"

#include <inttypes.h>

#include "kernels/cuda/cuda_room.h"

int codec_room(void **memory, int64_t bytes, const char *what)
{
    int64_t there;
    int status = cuda_room(memory, bytes, what, &there);
    if (status == ASSAY_SKIP)
        assay_error("%s need %" PRId64 " bytes more of device memory, and %" PRId64 " are there",
                    what, bytes, there);
    return status;
}
