/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP ask a run to end: the handler only records the
 * signal, and the run checks for it between messages.
 */
#pragma once

#include <poll.h>

/* Record the signals from now on; an ignored SIGHUP (nohup) stays ignored. */
void interrupt_catch(void);

/* Restore the default action, except for signals that are pending. */
void interrupt_release(void);

/* The recorded signal; 0: none. */
int interrupt_signal(void);

/* poll(2) on one descriptor, interrupted by a recorded signal without a race. */
int interrupt_poll(struct pollfd *poll_for, int ms);
