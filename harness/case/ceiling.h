/*
 * ceiling.h - which measured limit of the device binds a piece of work. Pure.
 *
 * Memory ceilings by the share of bytes written: memory_read (0), memory_r4w1
 * (0.2), memory_copy (0.5), memory_write (1); the nearest measured one binds.
 * Work that is hot and fits in the cache is held against cache_read and so on.
 * Work over the host's link is held against link_h2d and link_d2h, each for its own
 * direction's bytes: both run at once, so the longer one binds.
 * Arithmetic ceilings carry the arithmetic's name: fp32, tf32, bf16, fp16, int8.
 */
#ifndef CEILING_H
#define CEILING_H

#include "assay.h"
#include "case/result.h"

enum { CEILING_MAX = 32 };

struct ceiling {
    char name[ASSAY_MAX_NAME];
    double rate; /* bytes or operations a second */
};

/* The best rate of each ceiling measured so far in a run. */
struct ceilings {
    int count;
    struct ceiling item[CEILING_MAX];
};

/* Take in a case of an operation that measures a ceiling: keeps the best rate. */
void ceilings_add(struct ceilings *ceilings, const char *name, const struct assay_work *work,
                  double time_ns);

/* Names of the ceilings that this work can be held against, at most CEILING_MAX. */
int ceilings_needed(const struct assay_work *work, enum assay_temperature temperature,
                    int64_t cache_bytes, const char *names[CEILING_MAX]);

/* The ceiling that binds (the one that asks for the longest time) and the share
 * of it that `time_ns` reached; false when none was measured. */
bool ceiling_binding(const struct ceilings *ceilings, const struct assay_work *work,
                     enum assay_temperature temperature, int64_t cache_bytes, double time_ns,
                     char name[ASSAY_MAX_NAME], double *fraction);

#endif
