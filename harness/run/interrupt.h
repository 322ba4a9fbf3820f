/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP ask a run to end: the handler only records the
 * signal, and the run checks for it between messages. SIGTSTP (Ctrl-Z) stops the worker's process
 * group with this process, which a terminal alone would not do; SIGCONT (fg) continues both.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

/* Record the signals from now on; an ignored SIGHUP (nohup) stays ignored. */
void interrupt_catch(void);

/* Whether a process group is stopped and continued with this process. */
void interrupt_stops_too(pid_t group, bool does);

/* Called with true before this process waits, in interrupt_poll, and with false after; NULL:
 * nothing is. Where it is set, a wait notices within a moment a signal that another thread
 * received. */
void interrupt_around_waits(void (*hook)(bool begins));

/* How long this process has been stopped so far, which no time limit and no figure counts. */
double interrupt_stopped_s(void);

/* Restore the default action, except for signals that are pending. */
void interrupt_release(void);

/* The recorded signal; 0: none. */
int interrupt_signal(void);

/* poll(2) on one descriptor, interrupted by a recorded signal without a race. */
int interrupt_poll(struct pollfd *poll_for, int ms);
