/*
 * wire.h - the messages between a runner and its worker over a socket pair, and the status
 * board: shared memory in which the worker keeps its current step, so that the runner knows
 * what the worker was doing when it died or hung.
 *
 * Both ends are the same program, so a message is a struct as it is in memory, after a
 * header with type and length.
 */
#pragma once

#include <stdatomic.h>

#include "case/fingerprint.h"
#include "device/device.h"
#include "device/measure_request.h"

enum wire_type {
    /* runner to worker */
    WIRE_OPEN = 1, /* struct wire_open */
    WIRE_GROUP,    /* struct wire_group */
    WIRE_LOOK,     /* nothing: how is the device? */
    WIRE_QUIT,     /* nothing */
    /* worker to runner */
    WIRE_READY,  /* struct device_info */
    WIRE_FAILED, /* text: the device did not open */
    WIRE_STATE,  /* struct device_state, before the first group, after the last, and to LOOK */
    WIRE_CASE,   /* struct wire_case, then its sample arrays, its profile and its fingerprint */
    WIRE_BROKEN, /* struct measure_outcome: this worker cannot continue */
    WIRE_DONE,   /* nothing: the group is complete */
};

struct wire_open {
    char spec[RESULT_MAX_SPEC];
    struct device_options options; /* but its spec, which is the one above */
};

struct wire_group {
    char operation[ASSAY_MAX_NAME];
    char variant[PLAN_MAX_VARIANTS][ASSAY_MAX_NAME];
    bool profile;                   /* profile a launch of every case */
    int32_t threads;                /* of the worker, for checks; 0: all that it can have */
    bool fingerprint;               /* trace each case, and time nothing */
    struct measure_request request; /* but its pointers, which the worker finds by the names */
};

struct wire_case {
    int32_t index; /* into wire_group.variant */
    struct case_result result;
    struct profile *profile;   /* NULL: none */
    struct fingerprint *print; /* NULL: none */
};

/* How a group ended. */
struct measure_outcome {
    bool broken; /* the device is unusable; a new worker must continue the run */
    int culprit; /* index of the variant that broke it; -1: none */
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

/* Say that `variant` is in `step`; -1: the group as a whole. */
void board_announce(struct board *board, int variant, enum board_step step);

/* Send a whole message. 0, or -1 when the other end is gone or memory is short. */
int wire_send(int fd, enum wire_type type, const void *data, size_t bytes);
int wire_send_case(int fd, const struct wire_case *message);

struct wire_header {
    uint32_t type;
    uint32_t unused;
    uint64_t bytes;
};

/* A message as far as it has arrived; all zero before. The owner frees `body`. */
struct wire_inbox {
    struct wire_header header;
    char *body; /* header.bytes and an end, once the header is there */
    size_t got; /* bytes, header included */
};

enum wire_arrival {
    WIRE_WHOLE,
    WIRE_PART,      /* what there was is taken; more is to come */
    WIRE_GONE,      /* assay_error: the other end is gone */
    WIRE_MALFORMED, /* assay_error: no header of a message, or no memory for it */
};

/* Take what has arrived of a message. With the flag MSG_DONTWAIT of recv(2) it never waits. */
enum wire_arrival wire_receive_some(int fd, struct wire_inbox *inbox, int flags);

/* Take the whole message out of the inbox; free(*data). */
void wire_inbox_take(struct wire_inbox *inbox, enum wire_type *type, void **data, size_t *bytes);

/* Wait for the next message; free(*data). -1 when the other end is gone or memory is short. */
int wire_receive(int fd, enum wire_type *type, void **data, size_t *bytes);

/* Unpack a WIRE_CASE message and allocate its samples and its profile; -1 when it is malformed. */
int wire_unpack_case(const void *data, size_t bytes, struct wire_case *message);
void wire_case_release(struct wire_case *message);
