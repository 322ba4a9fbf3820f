/* gpt_room_cuda.c - see gpt_room.h. */
#include "gpt_room.h"

#include "kernels/cuda/cuda_room.h"
#include "base/units.h"

int gpt_room(struct assay_call *call, void **memory, int64_t bytes, const char *what)
{
    char needed[UNITS_MAX], free_bytes[UNITS_MAX];
    int64_t there;
    int status = cuda_room(memory, bytes, what, &there);
    if (status == 0) call->workspace_bytes += bytes;
    if (status != ASSAY_SKIP) return status;
    units_bytes(needed, (double)bytes);
    units_bytes(free_bytes, (double)there);
    assay_error("%s: needs %s more, the device has %s left", what, needed, free_bytes);
    return ASSAY_SKIP;
}
