/*
 * profile.h - one launch of a case, taken apart: its kernels, how long each was
 * busy, and their hardware counters. Plain data, made in the worker and kept
 * beside the case's result. A figure that was not measured is NAN or -1.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stddef.h>

#include "device/cuda/cupti.h"

enum {
    PROFILE_MAX_KERNELS = 48,  /* that differ; what comes after them is only counted */
    PROFILE_MAX_COUNTERS = 48, /* in one profile */
    PROFILE_MAX_METRIC = 112,  /* a metric by NVIDIA's name */
    PROFILE_MAX_KERNEL = 512,  /* a kernel's name, demangled; cut where it is longer */
    PROFILE_MAX_LIST = 2048,   /* --counters */
};

/* Activities of one launch that are alike: one kernel with one grid, block and
 * resources, or all copies, or all sets. */
struct profile_kernel {
    int32_t activity; /* enum cupti_kind */
    char name[PROFILE_MAX_KERNEL];
    int32_t count;             /* in one launch */
    int32_t grid[3], block[3]; /* -1: no kernel */
    int32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
    double busy_ns;        /* all of them together */
    double min_ns, max_ns; /* the shortest and the longest */
    double counter[PROFILE_MAX_COUNTERS];
};

struct profile {
    int32_t activities; /* kernels, copies and sets of one launch */
    double span_ns;     /* first start to last end */
    double busy_ns;     /* the sum over activities; more than the span where they overlap */
    double idle_ns;     /* of the span, with nothing running: the gaps */
    int32_t kernel_count;
    int32_t left_out;                     /* activities that had no room in `kernels` */
    int32_t passes;                       /* launches made to read the counters; -1: not read */
    char counters_lost[ASSAY_MAX_REASON]; /* why not, or which are unknown; "" */
    int32_t counter_count;
    char counter[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC];
    double whole[PROFILE_MAX_COUNTERS]; /* all kernels of the launch together */
    struct profile_kernel kernels[PROFILE_MAX_KERNELS];
};

void profile_init(struct profile *profile);

/* Sum the records of one launch up, in order of their first start. `name` writes a
 * kernel's name for people; places[i] becomes the index in `kernels` of record i, -1
 * where it had no room. Pure. */
void profile_take_records(struct profile *profile, const struct cupti_record *records, int count,
                          void (*name)(const char *mangled, char *out, size_t size), int *places);

/* Deal the counters out: values[i * counter_count + c] is counter c of the i-th
 * kernel in order of launch. Totals (".sum") add up; all else is the mean weighted
 * by the kernels' times, as counted where that is among the counters. -1 with assay_error when
 * there are not as many ranges as kernels. Pure. */
int profile_take_counters(struct profile *profile, const struct cupti_record *records, int count,
                          const int *places, const double *values, int ranges);

/* The same for counters of the launch as a whole: of one range. */
int profile_take_whole(struct profile *profile, const double *values, int ranges);

/* Whether two kernels came of one call. */
bool profile_is_graph(const struct cupti_record *records, int count);

/* Kernels among the records. */
int profile_count_kernels(const struct cupti_record *records, int count);

/* A counter by its metric's name; NAN when it was not read. `values` is
 * profile->whole or a kernel's `counter`. */
double profile_counter(const struct profile *profile, const double *values, const char *metric);

/* The word an activity is stored under, and back (-1). */
const char *activity_name(int activity);
int activity_parse(const char *name);

#endif
