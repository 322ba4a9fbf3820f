#define _GNU_SOURCE /* pipe2 */
#include "object/rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mute.h"
#include "base/process.h"

enum { TICK_MS = 20 };

struct word {
    int32_t status;
    bool has_forked;
    char why[1024];
};
_Static_assert(sizeof(struct word) <= 4096, "a pipe takes it in one piece");

static void settle_copy(pid_t parent)
{
    const struct rlimit none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a process of it forks is to be found too */
    setrlimit(RLIMIT_CORE, &none);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void be_copy(int tell, pid_t parent, int (*act)(void *), void *argument)
{
    struct word word = {0};
    settle_copy(parent);
    pid_t self = getpid();
    word.status = act(argument);
    if (getpid() != self) _exit(EXIT_SUCCESS); /* the code forked, and this is what it made */
    word.has_forked = waitpid(-1, NULL, WNOHANG) >= 0;
    snprintf(word.why, sizeof word.why, "%s", assay_last_error());
    fflush(stdout);
    ssize_t put = write(tell, &word, sizeof word);
    _exit(put == sizeof word ? EXIT_SUCCESS : EXIT_FAILURE);
}

static double patience_s(void)
{
    const char *set = getenv("ASSAY_LOAD_TIMEOUT_S");
    double seconds = set ? atof(set) : 0;
    return seconds > 0 ? seconds : REHEARSAL_S;
}

/* Wait for its word or its end. -1: neither came in time. */
static int await_word(int told, pid_t pid, double until_s, struct word *word, bool *has_word)
{
    *has_word = false;
    for (bool has_ended = false; !has_ended && !*has_word;) {
        struct pollfd poll_for = {.fd = told, .events = POLLIN};
        has_ended = process_has_ended(pid); /* before the look, so that no word is missed */
        if (poll(&poll_for, 1, has_ended ? 0 : TICK_MS) > 0) {
            *has_word = read(told, word, sizeof *word) == sizeof *word;
            if (!*has_word && !has_ended) usleep(1000 * TICK_MS / 10); /* closed, and ending */
        }
        if (!*has_word && !has_ended && clock_s() > until_s) return -1;
    }
    return 0;
}

static int judge(const char *who, const char *when, const struct word *word)
{
    if (word->status != 0) return assay_error("%.*s", (int)sizeof word->why - 1, word->why);
    if (!word->has_forked) return 0;
    return assay_error("%s forked %s, and left a process behind: it may not", who, when);
}

int rehearse(const char *who, const char *when, int (*act)(void *), void *argument)
{
    int told[2];
    struct word word;
    bool has_word;
    char how[256];
    pid_t parent = getpid();
    if (pipe2(told, O_CLOEXEC) != 0) return assay_error("a pipe: %s", strerror(errno));
    fflush(stdout); /* else an exit of the copy would print it too */
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) be_copy(told[1], parent, act, argument);
    int error = errno;
    close(told[1]);
    if (pid < 0) {
        close(told[0]);
        return assay_error("a copy of this process: %s", strerror(error));
    }
    setpgid(pid, pid);
    int late = await_word(told[0], pid, clock_s() + patience_s(), &word, &has_word);
    close(told[0]);
    int status = process_end(pid);
    if (has_word) return judge(who, when, &word);
    if (late)
        return assay_error("%s did not come to an end %s, in %g s (ASSAY_LOAD_TIMEOUT_S)", who,
                           when, patience_s());
    process_describe(status, how, sizeof how);
    return assay_error("%s %s %s: %s", who, WIFSIGNALED(status) ? "crashed" : "ended the process",
                       when, how);
}

int act_quietly(int (*act)(void *), void *argument)
{
    struct mute mute;
    mute_begin(&mute);
    int status = act(argument);
    mute_end(&mute);
    return status;
}
