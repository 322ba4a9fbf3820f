/*
 * interrupt.h - SIGINT and SIGTERM ask a run to end: they are noted and looked
 * at between messages, never acted upon in the handler.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <poll.h>

/* Note the two signals from now on. */
void interrupt_catch(void);

/* The signal that came; 0: none. */
int interrupt_signal(void);

/* poll(2) on one descriptor that a noted signal interrupts without a race. */
int interrupt_poll(struct pollfd *poll_for, int ms);

#endif
