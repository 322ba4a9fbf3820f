#define _GNU_SOURCE /* pipe2 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The handlers are not in the new program: a signal between here and there would be lost. */
static void open_signals(void)
{
    struct sigaction action;
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_IGN) signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process, up to its program. Returns only with an errno. */
static int become(const struct process_start *start, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
    /* The parent may have died before it was asked for. */
    if (getppid() != parent) return ESRCH;
    if (start->own_group) {
        if (setpgid(0, 0) != 0) return errno;
        /* A group that is not the terminal's own may write to it, whatever stty says. */
        signal(SIGTTOU, SIG_IGN);
    }
    for (int i = 0; i < start->file_count; i++)
        if (dup2(start->files[i].from, start->files[i].to) < 0) return errno;
    open_signals();
    /* execvp would have a shell read a text that is no program. */
    if (strchr(start->program, '/'))
        execv(start->program, (char *const *)start->argv);
    else
        execvp(start->program, (char *const *)start->argv);
    return errno;
}

/* A process of the group that outlives the parent for just as long as it takes to kill the group.
 * The kernel wakes it with SIGCONT, which reaches a stopped process too. Its copies of the
 * parent's descriptors would keep pipes and sockets open. */
static void guard(pid_t group, pid_t parent)
{
    sigset_t all;
    int woken;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    prctl(PR_SET_NAME, "assay-guard");
    bool may_wait = setpgid(0, group) == 0 && prctl(PR_SET_PDEATHSIG, SIGCONT) == 0;
    syscall(SYS_close_range, 0U, ~0U, 0U); /* since Linux 5.9 */
    while (may_wait && getppid() == parent)
        sigwait(&all, &woken);
    kill(-group, SIGKILL);
    _exit(EXIT_FAILURE);
}

static int start_guard(pid_t group, pid_t parent)
{
    pid_t pid = fork();
    if (pid == 0) guard(group, parent);
    /* Here too: the group must have it before the caller goes on. */
    if (pid > 0) setpgid(pid, group);
    return pid < 0 ? errno : 0;
}

int process_start(const struct process_start *start, pid_t *pid)
{
    int told[2], error = 0;
    pid_t parent = getpid();
    if (pipe2(told, O_CLOEXEC) != 0) return errno;
    *pid = fork();
    if (*pid == 0) {
        error = become(start, parent);
        ssize_t written = write(told[1], &error, sizeof error);
        _exit(written == sizeof error ? 127 : 126);
    }
    if (*pid < 0) error = errno;
    close(told[1]);
    /* Closed without a word where the program has begun. */
    ssize_t got = -1;
    while (*pid > 0 && (got = read(told[0], &error, sizeof error)) < 0 && errno == EINTR)
        continue;
    close(told[0]);
    if (*pid > 0 && got == sizeof error)
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    if (error == 0 && start->own_group) {
        error = start_guard(*pid, parent);
        if (error != 0) process_end(*pid);
    }
    return error;
}

int process_output(const char *const *argv, bool with_errors, char **text, int *status)
{
    int output[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    size_t room = 0;
    pid_t pid;
    *text = NULL;
    if (nothing < 0) return errno;
    int error = pipe2(output, O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) {
        const struct process_file files[] = {{nothing, STDIN_FILENO},
                                             {output[1], STDOUT_FILENO},
                                             {with_errors ? output[1] : nothing, STDERR_FILENO}};
        const struct process_start start = {
            .program = argv[0], .argv = argv, .files = files, .file_count = 3};
        error = process_start(&start, &pid);
        close(output[1]);
    }
    close(nothing);
    if (error) return error;
    FILE *in = fdopen(output[0], "r");
    /* It is text: up to its end there is no such byte. */
    if (!in || getdelim(text, &room, '\0', in) < 0) {
        free(*text);
        *text = strdup("");
    }
    if (in)
        fclose(in);
    else
        close(output[0]);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
    return *text ? 0 : ENOMEM;
}

bool process_has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* The group before the status is read: until then its number belongs to no other. The guard, which
 * is what else this process has in the group, is read last. */
int process_end(pid_t pid)
{
    int status = 0;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
        continue;
    return status;
}

void process_describe(int status, char *how, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(how, size, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, size, "exit status %d", WEXITSTATUS(status));
}

static const char *const *self_command;

void process_set_self(const char *const *self)
{
    self_command = self;
}

const char *process_self(const char *const *arguments, const char *argv[PROCESS_SELF_MOST])
{
    static const char *const own_name[] = {"assay", NULL};
    const char *const *parts[] = {self_command ? self_command : own_name, arguments};
    int count = 0;
    for (int i = 0; i < 2; i++)
        for (const char *const *part = parts[i]; *part; part++) {
            if (count == PROCESS_SELF_MOST - 1) return NULL;
            argv[count++] = *part;
        }
    argv[count] = NULL;
    return self_command ? argv[0] : "/proc/self/exe";
}
