/*
 * host_room.h - host memory that there may not be: a case is then skipped. The system lends
 * more than it has and ends the process that uses it, so what is there is asked first.
 */
#ifndef CODEC_HOST_ROOM_H
#define CODEC_HOST_ROOM_H

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that may be had without ending anything: the system's MemAvailable, or what the
 * control group (version 2) has left under its limit, what it would give back counted in.
 * `root` is "" but in tests. INT64_MAX where neither is told. */
int64_t host_room_there(const char *root);

/* 0; or ASSAY_SKIP with assay_error where `bytes` and a reserve of 1 GiB are not there.
 * `what` is a plural: "batches". */
int host_room(int64_t bytes, const char *what);

#ifdef __cplusplus
}
#endif

#endif
