/*
 * ceiling.h - ceilings: measured limits of the device, and which of them binds a given
 * amount of work. Pure.
 *
 * There is a memory ceiling for each of several shares of bytes written: memory_read (0),
 * memory_r4w1 (0.2), memory_copy (0.5), memory_write (1). The nearest measured one applies.
 * Work that is hot and fits in the cache is compared with cache_read and so on.
 * Work over the host link is compared with link_h2d and link_d2h, each for the bytes of
 * its direction; both run at the same time, so the longer one binds.
 * Arithmetic ceilings have the arithmetic's name: fp32, tf32, bf16, fp16, int8, fp8.
 */
#pragma once

#include "assay.h"
#include "case/result.h"

enum { CEILING_MAX = 32 };

/* Rates are bytes or operations per second. */
struct ceiling {
    char name[ASSAY_MAX_NAME];
    double rate;        /* NAN: not known, as a noisy case may be the fastest */
    double least, most; /* a case has reached `least`; none can have been faster than `most` */
};

/* The best rate of each ceiling measured so far in a run. */
struct ceilings {
    int count;
    struct ceiling item[CEILING_MAX];
};

/* Add the result of a case that measures ceiling `name`; keeps the best rate. */
void ceilings_add(struct ceilings *ceilings, const char *name, const struct case_work *work,
                  double time_ns);

/* The same for a result. One that is noisy (result_is_noisy) gives no rate: its interval says
 * between which two the ceiling lies, and the ceiling is known once a case that is not noisy was
 * at least as fast as all of that. A result that is not ok gives nothing. */
void ceilings_learn(struct ceilings *ceilings, const char *name, const struct case_result *result,
                    double most_spread);

/* NULL: it was not measured. */
const struct ceiling *ceiling_named(const struct ceilings *ceilings, const char *name);

/* Names of the ceilings that this work is compared with; returns how many. */
int ceilings_needed(const struct case_work *work, enum assay_temperature temperature,
                    int64_t cache_bytes, const char *names[CEILING_MAX]);

/* Whether work is shown in operations where no ceiling says otherwise: it has many per byte. */
bool ceiling_is_arithmetic(const struct case_work *work);

/* The ceiling that binds, and the fraction of it that `time_ns` reached. False when it was not
 * measured. The shape of the work decides (ceiling_is_arithmetic), so that all cases of a group
 * have the same one in every run, however noisy the ceilings are; among its ceilings the one that
 * asks for the longest time. It is overruled only where another ceiling asks for clearly longer,
 * as memory does for a product of a few rows. The
 * fraction is NAN where the ceiling that binds, or that may, is not known. */
bool ceiling_binding(const struct ceilings *ceilings, const struct case_work *work,
                     enum assay_temperature temperature, int64_t cache_bytes, double time_ns,
                     char name[ASSAY_MAX_NAME], double *fraction);

/* The least time that the work can take by the limits measured so far, in ns, and the name of the
 * limit; 0 when none applies. Less than `ceiling_binding` asks for, since it grants what an honest
 * kernel may have: the fastest bandwidth of any mix, that as many written bytes as the cache
 * holds, or hot operands, never reach memory, and products in fp32 by parts in bf16. */
double ceiling_least_ns(const struct ceilings *ceilings, const struct case_work *work,
                        enum assay_temperature temperature, int64_t cache_bytes,
                        char name[ASSAY_MAX_NAME]);
