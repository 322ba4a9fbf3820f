/*
 * program_wait.h - waiting for a process that this one started, until it ends, its time is over or
 * a signal asks this process to end (run/interrupt.h, which is to be caught).
 */
#pragma once

#include <sys/types.h>

enum wait_end { WAIT_ENDED, WAIT_OVER, WAIT_STOPPED };

/* Up to `ms`; below 0: without a limit. *status as of waitpid(2) where it ended. */
enum wait_end program_wait(pid_t pid, long ms, int *status);

/* A process with a group of its own (base/process.h), until it ends, and what is left of the group
 * with it, or until a signal comes: then the group is asked to end, as below. */
enum wait_end program_wait_group(pid_t pid, int *status);

/* Ask it to end, so that it keeps or removes what it has to; after a few seconds kill it. */
void program_stop(pid_t pid);
