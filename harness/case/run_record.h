/*
 * run_record.h - a stored run as plain data: provenance of program and machine, launches,
 * and cases. The store reads and writes these; judging and showing them needs no database.
 */
#pragma once

#include "base/sha256.h"
#include <time.h>

#include "case/result.h"

enum { STORE_ID = 33 }; /* 32 hex digits and the end */

/* Provenance of the program, recorded by the build (build/provenance.inc). */
struct program_info {
    char version[RESULT_MAX_PROPERTY];
    char commit[RESULT_MAX_PROPERTY];
    char diff_hash[RESULT_MAX_HASH]; /* of uncommitted changes; "" clean */
    char compiler[RESULT_MAX_PROPERTY];
    char flags[512];
    char nvcc[RESULT_MAX_PROPERTY]; /* "" when built without */
    char nvcc_flags[512];
};

/* What this program was built from. Without git (an unpacked archive) the commit and diff_hash
 * are "unknown"; a text too long for its field is cut. */
void provenance_program(struct program_info *info);

/* A shared object that was loaded beside what the program was built from. */
struct object_info {
    char name[RESULT_MAX_PROPERTY]; /* of its file, without folders */
    char sha256[SHA256_TEXT];
    char commit[RESULT_MAX_PROPERTY]; /* of its sources, as it says; "" unknown */
};

/* Provenance of the machine. A text that is not known is "", a number -1. */
struct host_info {
    char hostname[RESULT_MAX_PROPERTY];
    char cpu[RESULT_MAX_PROPERTY];
    char kernel[RESULT_MAX_PROPERTY];
    char os[RESULT_MAX_PROPERTY];
    char container[RESULT_MAX_PROPERTY]; /* containers, then virtual machines, as far as they can be
                                          * told from inside: "docker, firecracker"; "" for none */
    int32_t cores;
    int64_t memory_bytes;
};

/* Describe this machine, with the files of /proc, /sys, /etc and /run looked up below `root` (""
 * but for tests); names and cores come by system call. Never fails. */
void host_describe(struct host_info *info, const char *root);

/* The processor's name in /proc/cpuinfo below `root`; false and "" where it is none, as on Arm. */
bool host_cpu_name(char *out, size_t size, const char *root);

/* The share of a suite that a run measured, where several processes of a job divided it. */
struct shard {
    int32_t index, count;            /* this one of so many, from 1; 0, 0: the run is whole */
    char group[RESULT_MAX_PROPERTY]; /* the job, alike in all its processes; "" it has no name */
    char cut[STORE_ID]; /* hash of the build, and of which groups the shares consist: equal where
                           they fit */
};

struct run_info {
    char id[STORE_ID];
    char suite[ASSAY_MAX_NAME];
    char label[RESULT_MAX_PROPERTY];
    char command[512];
    const char *suite_text;            /* borrowed */
    const struct object_info *objects; /* those that were loaded, in that order; borrowed */
    int object_count;
    bool simulated;
    struct shard shard;
    struct timespec started; /* for the store; zero: when it is told. Not read back */
};

/* What else used the machine during a launch. A figure that is not known is NAN or -1. */
struct surroundings {
    int32_t processors;          /* of the machine, online */
    double start_load, end_load; /* load averages over the last minute */
    double other_share;          /* of the processors' time, for other programs */
    double steal_share;          /* of the processors' time, for other machines of the hypervisor */
};

struct launch_info {
    char id[STORE_ID];
    char run_id[STORE_ID];
    int32_t number; /* 1-based within the run */
    uint64_t seed;
    struct device_info device;
    struct device_state start;
    struct surroundings around;
    int32_t end_other_processes; /* of start, when it ended; of a launch that was read */
    struct timespec started;     /* as that of the run */
};

struct stored_case {
    char launch_id[STORE_ID];
    int32_t launch_number;
    int32_t purpose; /* enum group_purpose */
    char group_label[ASSAY_MAX_NAME];
    double threshold;          /* the suite's smallest change that counts, a fraction; NAN none */
    int32_t expect_wrong;      /* 1: the suite has it to show a mistake; -1 unknown */
    struct case_result result; /* samples included when asked for */
};

struct stored_run {
    struct run_info run; /* suite_text and objects owned here */
    char *suite_text;
    struct object_info *objects;
    char started_at[32], ended_at[32], status[24];
    struct program_info program;
    struct host_info host;
    int launch_count;
    struct launch_info *launches;
    int rounds; /* launches that a case was to be in: fewer than all where each GPU's launch had a
                 * part of the cases; 0: all */
    int shares; /* of a job as one run (run.shard.index is 0): those that are there; 0: it is a run
                 */
    int case_count;
    struct stored_case *cases; /* in the order measured */
    struct profile *
        *profiles;      /* NULL where a case has none; NULL: store_read_profiles was not asked
                         */
    int expected_count; /* cases that the plans of its launches contained */
};

/* The launch of a case; of a run that was read there is one for each. NULL: there is none. */
const struct launch_info *stored_run_launch(const struct stored_run *run, const char *launch_id);

static inline int stored_run_rounds(const struct stored_run *run)
{
    return run->rounds > 0 ? run->rounds : run->launch_count;
}

void stored_run_release(struct stored_run *run);
