/*
 * child.h - the parent's side of a worker process: starting it, waiting for its messages,
 * ending it.
 */
#pragma once

#include <sys/types.h>

#include "measure/wire.h"

struct child {
    pid_t pid; /* 0: none */
    int socket;
    bool died; /* while it opened its device: it did not start */
    struct wire_inbox inbox;
    struct board *board;
    struct device_info device;
    struct device_state state; /* when it opened */
};

/* Start a worker and open a device in it. One that dies meanwhile is started again, twice: it may
 * have been killed for memory. -1 with assay_error, nothing running; child->died says whether it
 * was by its death. */
int child_start(struct child *child, const struct device_options *options);

/* How waiting for a message ended. */
enum child_wait {
    CHILD_MESSAGE, /* a whole one: wire_inbox_take */
    CHILD_TICK,    /* none yet, or a part of one */
    CHILD_GONE,    /* the process died; child_reap says how */
    CHILD_GARBLED, /* what it sent is no message */
    CHILD_STOPPED, /* a signal asks this process to end */
};

/* Wait up to `ms` for a message. A process may send a part of one and then nothing: what has
 * arrived is kept, and neither the time nor a signal is missed. */
enum child_wait child_wait(struct child *child, int ms);

/* How its device is now. Only between groups. -1: it does not answer. */
int child_look(struct child *child, struct device_state *state);

/* Ask it to finish; *state is the last state of its device, if it says one. May be NULL. */
void child_quit(struct child *child, struct device_state *state);

/* Close its socket, which ends a worker that waits for a message, and kill it if it does not
 * end within a moment. `how` says how it ended ("signal 11, Segmentation fault"; "exit
 * status 1"); it may be NULL, with size 0. */
void child_reap(struct child *child, char *how, size_t size);
