/* interrupt.c - see interrupt.h. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "interrupt.h"

/* A handler can only write a variable of the file. */
static volatile sig_atomic_t caught;

static void note(int signal_number)
{
    caught = signal_number;
}

/* The signals are blocked except while polling, so that none is lost between
 * the look at `caught` and the wait. */
void interrupt_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, NULL);
}

int interrupt_signal(void)
{
    return caught;
}

int interrupt_poll(struct pollfd *poll_for, int ms)
{
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    sigset_t open;
    sigprocmask(SIG_SETMASK, NULL, &open);
    sigdelset(&open, SIGINT);
    sigdelset(&open, SIGTERM);
    return ppoll(poll_for, 1, &limit, &open);
}
