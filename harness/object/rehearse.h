/*
 * rehearse.h - does something with code of others in a copy of this process first.
 */
#pragma once

/*
 * Call `act` in a forked copy of this process; what it prints goes to standard error. `who` and
 * `when` are for messages: "WHO crashed when it was loaded: signal 11, ...".
 *
 * 0: it returned 0 there, and left no process behind. -1 with assay_error: it returned -1 (the
 * error is its own), crashed, ended the process, forked, or took longer than REHEARSAL_S or
 * ASSAY_LOAD_TIMEOUT_S seconds. Not where this process has threads or a GPU.
 */
enum { REHEARSAL_S = 30 };
int rehearse(const char *who, const char *when, int (*act)(void *), void *argument);

/* Call `act` here with nothing to be seen of what it prints: it was seen in the rehearsal. */
int act_quietly(int (*act)(void *), void *argument);
