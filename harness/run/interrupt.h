/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP ask a run to end: they are noted and
 * looked at between messages, never acted upon in the handler.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <poll.h>

/* Note the signals from now on; a SIGHUP that is ignored (nohup) stays so. */
void interrupt_catch(void);

/* Let them end the process again, those that came meanwhile excepted. */
void interrupt_release(void);

/* The signal that came; 0: none. */
int interrupt_signal(void);

/* poll(2) on one descriptor that a noted signal interrupts without a race. */
int interrupt_poll(struct pollfd *poll_for, int ms);

#endif
