/*
 * process.h - starts a process that does not outlive this one: the kernel kills it when its
 * parent dies, whatever the parent dies of. In a process group of its own, what it forks dies
 * then too, unless that has left the group.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor of this process and what it is in the new one. */
struct process_file {
    int from, to;
};

struct process_start {
    const char *program; /* a name without a slash is looked for in PATH */
    const char *const *argv;
    const struct process_file *files; /* no `from` is the `to` of another; others close on exec */
    int file_count;
    /* A process group of its own, so that what it forks ends with it. A second process (the
     * guard) is started in that group, which kills the group when this process dies. */
    bool own_group;
};

/* All signals are open in it, and those that this process handles have their default action.
 * Returns 0, or the errno with which it could not be started. */
int process_start(const struct process_start *start, pid_t *pid);

/* Run a program, whose name without a slash is looked for in PATH, to its end, with nothing to
 * read. *text, for free(3), is what it wrote to standard output, and with `with_errors` to standard
 * error too, which else goes nowhere; *status is as waitpid(2) has it. Returns 0, or an errno, and
 * then *text is NULL. */
int process_output(const char *const *argv, bool with_errors, char **text, int *status);

/* Whether it has ended; its status is still there to be read. */
bool process_has_ended(pid_t pid);

/* Kill a process with an own group, if it has not ended, and what is left of that group, the guard
 * included. Returns its status, as waitpid(2) does. */
int process_end(pid_t pid);

/* How it ended, from its status: "signal 11, Segmentation fault"; "exit status 1". */
void process_describe(int status, char *how, size_t size);

/* The command that starts this program again, with these arguments (a list ended by NULL) behind
 * it: writes its argv and returns its program, both for process_start. NULL where there is no room
 * for all of them. */
enum { PROCESS_SELF_MOST = 64 };
const char *process_self(const char *const *arguments, const char *argv[PROCESS_SELF_MOST]);

/* What process_self begins with: the program, and what stands before the arguments, ended by NULL;
 * borrowed. NULL, as without this call: the file of this process, called assay. */
void process_set_self(const char *const *self);
