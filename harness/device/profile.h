/*
 * profile.h - the profile of one launch of a case: its kernels, how long each ran, and
 * their hardware counters. Plain data, made in the worker and stored with the result of
 * the case. A figure that was not measured is NAN or -1.
 */
#pragma once

#include <stddef.h>

#include "device/cuda/cupti.h"

enum {
    PROFILE_MAX_KERNELS = 48,  /* different kernels; any more are only counted */
    PROFILE_MAX_COUNTERS = 48, /* in one profile */
    PROFILE_MAX_METRIC = 112,  /* length of NVIDIA's name of a metric */
    PROFILE_MAX_KERNEL = 512,  /* length of a demangled kernel name; a longer one is cut */
    PROFILE_MAX_LIST = 2048,   /* length of --counters */
};

/* Activities of one launch that are alike: the launches of one kernel with the same grid,
 * block and resources, or all copies, or all memsets. */
struct profile_kernel {
    int32_t activity; /* enum cupti_kind */
    char name[PROFILE_MAX_KERNEL];
    int32_t count;             /* in one launch */
    int32_t grid[3], block[3]; /* -1: not a kernel */
    int32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
    double busy_ns;        /* the sum over all of them */
    double min_ns, max_ns; /* of the shortest and the longest */
    double counter[PROFILE_MAX_COUNTERS];
};

struct profile {
    int32_t activities; /* kernels, copies and memsets of one launch */
    double span_ns;     /* first start to last end */
    double busy_ns;     /* the sum over activities; more than the span if they overlap */
    double idle_ns;     /* time within the span when nothing ran */
    int32_t kernel_count;
    int32_t left_out;                     /* activities that did not fit into `kernels` */
    int32_t passes;                       /* launches needed to read the counters; -1: not read */
    char counters_lost[ASSAY_MAX_REASON]; /* why they were not read, or which are unknown; "" */
    int32_t counter_count;
    char counter[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC];
    double whole[PROFILE_MAX_COUNTERS]; /* over all kernels of the launch */
    struct profile_kernel kernels[PROFILE_MAX_KERNELS];
};

void profile_init(struct profile *profile);

/* Sum up the records of one launch, which are sorted by start. `name` writes the readable
 * name of a kernel; places[i] becomes the index in `kernels` of record i, -1 if it did
 * not fit. Pure. */
void profile_take_records(struct profile *profile, const struct cupti_record *records, int count,
                          void (*name)(const char *mangled, char *out, size_t size), int *places);

/* Assign the counters to the kernels: values[i * counter_count + c] is counter c of the
 * i-th kernel in order of launch. Totals (".sum") are added; any other counter is averaged,
 * weighted by the kernels' times (the time counter if it was read, else the record's). -1
 * with assay_error unless there is one range per kernel. Pure. */
int profile_take_counters(struct profile *profile, const struct cupti_record *records, int count,
                          const int *places, const double *values, int ranges);

/* The same for counters of the whole launch, which is one range. */
int profile_take_whole(struct profile *profile, const double *values, int ranges);

/* Whether two of the kernels were launched by one call, as those of a CUDA graph are. */
bool profile_is_graph(const struct cupti_record *records, int count);

/* Number of kernels among the records. */
int profile_count_kernels(const struct cupti_record *records, int count);

/* By its metric; NAN: not read. `values`: profile->whole, or `counter` of a kernel. */
double profile_counter(const struct profile *profile, const double *values, const char *metric);

/* The names that activities (enum cupti_kind) are stored under. */
extern const struct words activity_words;
#define activity_name(activity) words_name(&activity_words, activity)
