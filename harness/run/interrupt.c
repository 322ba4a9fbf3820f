#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "run/interrupt.h"

/* Global, as a signal handler takes no argument for them. */
static volatile sig_atomic_t caught;
enum { GROUPS = 256, SLICE_MS = 200 };
static volatile pid_t stops_too[GROUPS];
static volatile double stopped_s;
static void (*around_waits)(bool begins);

static void note(int signal_number)
{
    caught = signal_number;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static sigset_t all_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&set, signals[i]);
    return set;
}

static void handle(int signal_number, void (*handler)(int), int flags)
{
    struct sigaction action, before;
    bool stays_ignored = signal_number == SIGHUP || signal_number == SIGTSTP;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal_number, NULL, &before);
    if (stays_ignored && before.sa_handler == SIG_IGN) return;
    sigaction(signal_number, &action, NULL);
}

/* In the handler the signal has its default action, and is not blocked. */
enum { STOP_FLAGS = SA_RESETHAND | SA_NODEFER | SA_RESTART };

static void signal_groups(int signal_number)
{
    for (int i = 0; i < GROUPS; i++)
        if (stops_too[i] > 0) kill(-stops_too[i], signal_number);
}

/* The default action, which does not stop where no shell could continue (an orphaned group). */
static void stop(int signal_number)
{
    int kept = errno;
    double since_s = clock_s();
    signal_groups(SIGSTOP);
    raise(signal_number);
    signal_groups(SIGCONT);
    stopped_s += clock_s() - since_s;
    handle(signal_number, stop, STOP_FLAGS);
    errno = kept;
}

void interrupt_stops_too(pid_t group, bool does)
{
    for (int i = 0; i < GROUPS; i++)
        if (stops_too[i] == (does ? 0 : group)) {
            stops_too[i] = does ? group : 0;
            return;
        }
}

void interrupt_around_waits(void (*hook)(bool begins))
{
    around_waits = hook;
}

double interrupt_stopped_s(void)
{
    return stopped_s;
}

/* Blocked except in ppoll, so that no signal is lost between the check of `caught` and the wait. */
void interrupt_catch(void)
{
    for (int i = 0; i < SIGNALS; i++)
        handle(signals[i], note, 0);
    handle(SIGTSTP, stop, STOP_FLAGS);
    sigset_t all = all_signals();
    sigprocmask(SIG_BLOCK, &all, NULL);
}

void interrupt_release(void)
{
    /* Pending signals are delivered here, while the handler is still installed. */
    sigset_t all = all_signals();
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    for (int i = 0; i < SIGNALS; i++)
        handle(signals[i], SIG_DFL, 0);
    handle(SIGTSTP, SIG_DFL, 0);
}

/* A pending signal counts: the end of a worker by the same Ctrl-C may be noticed before it. */
int interrupt_signal(void)
{
    sigset_t pending;
    if (caught == 0 && sigpending(&pending) == 0)
        for (int i = 0; i < SIGNALS; i++)
            if (sigismember(&pending, signals[i])) caught = signals[i];
    return caught;
}

static int poll_once(struct pollfd *poll_for, int ms)
{
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    sigset_t open;
    sigprocmask(SIG_SETMASK, NULL, &open);
    for (int i = 0; i < SIGNALS; i++)
        sigdelset(&open, signals[i]);
    if (around_waits) around_waits(true);
    int ready = ppoll(poll_for, 1, &limit, &open);
    if (around_waits) around_waits(false);
    return ready;
}

int interrupt_poll(struct pollfd *poll_for, int ms)
{
    int ready = 0;
    do {
        int slice = around_waits && ms > SLICE_MS ? SLICE_MS : ms;
        ready = poll_once(poll_for, slice);
        ms -= slice;
    } while (ready == 0 && ms > 0 && interrupt_signal() == 0);
    return ready;
}
