/*
 * doctor.h - what this machine can and cannot measure, and what to do about it.
 *
 * In two halves: doctor_gather finds the facts, on the machine; doctor_judge
 * draws the conclusions from them and from nothing else. A rule is a row of one
 * of the tables in doctor_gpu.c and doctor_host.c.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <limits.h>
#include <stdio.h>

#include "case/result.h"

enum { DOCTOR_TEXT = 320, DOCTOR_MAX_FINDINGS = 32 };

/* A device that was asked for, through a worker. */
struct doctor_device {
    bool is_asked, is_open;
    char error[DOCTOR_TEXT];         /* why it did not open */
    struct device_info info;         /* while it is open only */
    char library_error[DOCTOR_TEXT]; /* why its vendor library cannot be loaded; "" */
};

/* Unknown is "", NAN or -1. */
struct doctor_facts {
    /* the program */
    char version[RESULT_MAX_PROPERTY];
    char nvcc[RESULT_MAX_PROPERTY]; /* "V13.0.48"; "" built without CUDA */
    bool has_nvtx;

    struct doctor_device host, gpu;

    /* around the GPU */
    char driver[RESULT_MAX_PROPERTY]; /* of the loaded kernel module */
    bool has_device_node;             /* /dev/nvidiactl */
    bool has_nvml;
    char nvml_error[DOCTOR_TEXT];
    struct device_state state; /* of the idle GPU */
    int persistence;           /* 1, 0 */
    int gpu_processes;

    /* the host */
    char container[RESULT_MAX_PROPERTY]; /* "docker", "kvm"; "" none seen */
    char governor[RESULT_MAX_PROPERTY];
    int turbo; /* 1, 0 */
    int cores; /* that this process may run on */
    double quota_cores;
    double load; /* mean length of the run queue, last minute */

    /* what a run writes and draws */
    char gnuplot[RESULT_MAX_PROPERTY]; /* "5.4 patchlevel 4"; "" not found */
    char database[PATH_MAX];
    bool database_exists;
    char database_error[DOCTOR_TEXT]; /* "": it can be written */
    char shared_disk[16];             /* "NFS"; "": a disk of this host */
    double free_bytes;
};

struct doctor_options {
    bool host, gpu;       /* which to ask */
    const char *gpu_spec; /* "cuda:0" */
    const char *database;
    const char *root; /* files of /proc, /sys and /dev are looked up below it; "" here */
};

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_finding {
    const char *name; /* of the check */
    enum doctor_state state;
    char found[DOCTOR_TEXT];
    char means[DOCTOR_TEXT]; /* what is lost by it; "" when ok */
    char remedy[DOCTOR_TEXT];
};

/* Judges one thing; false when it does not arise (no GPU was asked for). The
 * finding arrives empty, named and ok. */
struct doctor_check {
    const char *name;
    bool (*judge)(const struct doctor_facts *facts, struct doctor_finding *finding);
};

extern const struct doctor_check doctor_gpu_checks[], doctor_host_checks[]; /* NULL name ends */

void doctor_gather(struct doctor_facts *facts, const struct doctor_options *options);

/* Every finding, in the order of the tables; returns how many. */
int doctor_judge(const struct doctor_facts *facts,
                 struct doctor_finding findings[DOCTOR_MAX_FINDINGS]);

/* For the rules: the state, and printf's words for what was found. */
void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the finding means for a measurement, and what to do. */
void doctor_advise(struct doctor_finding *finding, const char *means, const char *remedy);

/* "ok", "limited", "missing": the words of the table and of JSON. */
const char *doctor_state_name(enum doctor_state state);

/* EXIT_FINE when a device can be measured, otherwise EXIT_NOTHING. */
int doctor_exit(const struct doctor_facts *facts);

/* A table for people, at most 100 columns wide. */
void doctor_write_table(FILE *out, const struct doctor_facts *facts,
                        const struct doctor_finding *findings, int count);

/* {"assay", "format": 1, "devices": [...], "checks": [{"name", "state", "found",
 * "means", "remedy"}], "exit"}; a text that does not arise is null. -1 with
 * assay_error when it cannot be written. */
int doctor_write_json(FILE *out, const struct doctor_facts *facts,
                      const struct doctor_finding *findings, int count);

#endif
