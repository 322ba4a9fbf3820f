/*
 * doctor.h - what this machine can and cannot measure, and what to do about it.
 *
 * doctor_gather collects facts from the machine; doctor_judge draws conclusions from these
 * facts only. Each rule is a row of a table in doctor_gpu.c or doctor_host.c.
 */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "case/result.h"

enum { DOCTOR_TEXT = 320, DOCTOR_MAX_FINDINGS = 32 };

/* The result of opening a device in a worker. */
struct doctor_device {
    bool is_asked, is_open;
    char error[DOCTOR_TEXT];         /* why it did not open */
    struct device_info info;         /* valid if it is open */
    char library_error[DOCTOR_TEXT]; /* why its vendor library cannot be loaded; "" */
};

/* A fact that is unknown is "", NAN or -1. */
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
    int cores; /* available to this process */
    double quota_cores;
    double load; /* load average of the last minute */

    /* what commands load besides the program */
    int objects; /* in the user's folder (object/object.h) */
    char objects_error[DOCTOR_TEXT];

    /* what a run writes and draws */
    char gnuplot[RESULT_MAX_PROPERTY]; /* "5.4 patchlevel 4"; "" not found */
    char database[PATH_MAX];
    bool database_exists;
    char database_error[DOCTOR_TEXT]; /* "": it can be written */
    char shared_disk[16];             /* "NFS"; "": a local disk */
    double free_bytes;
};

struct doctor_options {
    bool host, gpu;       /* which devices to open */
    const char *gpu_spec; /* "cuda:0" */
    const char *database;
    const char *root; /* prefix of /proc, /sys and /dev; "" is this machine */
};

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_finding {
    const char *name; /* of the check */
    enum doctor_state state;
    char found[DOCTOR_TEXT];
    char means[DOCTOR_TEXT]; /* the consequence; "" when ok */
    char remedy[DOCTOR_TEXT];
};

/* What must be so for a check to apply. */
enum doctor_needs {
    NEEDS_NOTHING,
    NEEDS_HOST_ASKED,
    NEEDS_HOST_OPEN,
    NEEDS_GPU_ASKED,
    NEEDS_GPU_BUILT, /* asked for, and built with nvcc */
    NEEDS_GPU_OPEN,
};

/* One rule. `judge` says what it found; a fact that is unknown it leaves out. */
struct doctor_check {
    const char *name;
    enum doctor_needs needs;
    void (*judge)(const struct doctor_facts *facts, struct doctor_finding *finding);
    const char *means, *remedy; /* of a finding that is not ok, where `judge` says no other */
    /* In the place of `judge`, for what is "on" or "off": where doctor_facts has an int for it (-1:
     * not known, and nothing is found), and whether it should be on. */
    size_t at;
    bool good;
};

extern const struct doctor_check doctor_gpu_checks[], doctor_host_checks[]; /* NULL name ends */

void doctor_gather(struct doctor_facts *facts, const struct doctor_options *options);

/* Every finding, in the order of the tables; returns how many. */
int doctor_judge(const struct doctor_facts *facts,
                 struct doctor_finding findings[DOCTOR_MAX_FINDINGS]);

/* For the rules: set the state and the text of what was found. */
void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For the rules: what a finding that is not ok means for a measurement (NULL: as the table
 * says), and what to do about it. */
void doctor_advise(struct doctor_finding *finding, const char *means, const char *remedy, ...)
    __attribute__((format(printf, 3, 4)));

extern const struct words doctor_state_words; /* of the table and of JSON */

/* EXIT_FINE when a device can be measured, otherwise EXIT_NOTHING. */
int doctor_exit(const struct doctor_facts *facts);

/* A table for people, in lines of `width` columns. */
void doctor_write_table(FILE *out, const struct doctor_facts *facts,
                        const struct doctor_finding *findings, int count, int width);

/* {"assay", "format": 1, "devices": [...], "checks": [{"name", "state", "found", "means",
 * "remedy"}], "exit"}; an empty text is null. -1 with assay_error when it cannot be
 * written. */
int doctor_write_json(FILE *out, const struct doctor_facts *facts,
                      const struct doctor_finding *findings, int count);

/* ---------------------------------------------------------------- devices -- */

/* Open `spec` ("host", "cuda:0", "auto") in a worker, as this process never uses CUDA, and describe
 * it; with try_counters, info->lost has a line if hardware counters cannot be read (device.h). */
int devices_probe(const char *spec, bool try_counters, struct device_info *info);

/* Print every device as a table of `width` columns or as JSON. */
int devices_list(FILE *out, const char *format, int width);
