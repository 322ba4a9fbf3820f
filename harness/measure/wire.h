/*
 * wire.h - the messages between a runner and its worker over a socket pair, and the status
 * board: shared memory in which the worker keeps its current step, so that the runner knows
 * what the worker was doing when it died or hung.
 *
 * Both ends are the same program, so a message is a struct as it is in memory, after a
 * header with type and length.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdatomic.h>

#include "case/result.h"
#include "device/profile.h"
#include "suite/plan.h"

enum wire_type {
    /* runner to worker */
    WIRE_OPEN = 1, /* struct wire_open */
    WIRE_GROUP,    /* struct wire_group */
    WIRE_QUIT,     /* nothing */
    /* worker to runner */
    WIRE_READY,   /* struct device_info */
    WIRE_FAILED,  /* text: the device did not open */
    WIRE_STATE,   /* struct device_state, once before the first group and after the last */
    WIRE_CASE,    /* struct wire_case, then its sample arrays */
    WIRE_BROKEN,  /* struct wire_broken: this worker cannot continue */
    WIRE_PROFILE, /* struct wire_profile, before the case that it belongs to */
    WIRE_DONE,    /* nothing: the group is complete */
};

struct wire_open {
    char spec[RESULT_MAX_SPEC];
    bool use_events, try_counters;
    int32_t flush; /* enum cache_flush; -1: the device's default */
    uint64_t seed;
};

struct wire_group {
    char operation[ASSAY_MAX_NAME];
    int64_t value[ASSAY_MAX_DIMS];
    int32_t temperature;
    double budget_s, precision_pct, energy_s;
    char baseline[ASSAY_MAX_NAME]; /* "": the operation's choice */
    uint64_t seed;
    bool check_only; /* check the results, time nothing */
    bool profile;    /* profile a launch of every case */
    char counters[PROFILE_MAX_LIST];
    int32_t launch; /* number in the run, from 1 */
    uint64_t launch_seed;
    int32_t variant_count;
    char variant[PLAN_MAX_VARIANTS][ASSAY_MAX_NAME];
};

struct wire_case {
    int32_t index; /* into wire_group.variant */
    struct case_result result;
};

struct wire_profile {
    int32_t index; /* into wire_group.variant */
    struct profile profile;
};

struct wire_broken {
    int32_t index; /* the variant at fault; -1: none */
    char reason[ASSAY_MAX_REASON];
};

/* What the worker is doing. */
enum board_step {
    STEP_IDLE,
    STEP_PREPARE, /* allocate, fill, compute the reference: no code of a variant runs */
    STEP_SETUP,
    STEP_FIRST_LAUNCH,
    STEP_CHECK,
    STEP_SAMPLE,
    STEP_ENERGY,
    STEP_PROFILE,
    STEP_TEARDOWN,
    STEPS,
};

struct board {
    _Atomic uint32_t sequence; /* changes with every step */
    _Atomic int32_t variant;   /* index in the group; -1: none */
    _Atomic uint32_t step;
};

const char *step_name(enum board_step step);

/* Send a whole message. 0, or -1 when the other end is gone or memory is short. */
int wire_send(int fd, enum wire_type type, const void *data, size_t bytes);
int wire_send_case(int fd, const struct wire_case *message);

/* Receive the next message; free(*data). -1 when the other end is gone or memory is short. */
int wire_receive(int fd, enum wire_type *type, void **data, size_t *bytes);

/* Unpack a WIRE_CASE message and allocate its samples; -1 when it is malformed. */
int wire_unpack_case(const void *data, size_t bytes, struct wire_case *message);

#endif
