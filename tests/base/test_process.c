/* test_process.c - a process ends with its parent, and what it forked ends with it. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/process.h"

static bool is_gone_within(pid_t pid, double seconds)
{
    for (int i = 0; i < (int)(seconds * 100); i++) {
        char path[64], line[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "r");
        if (!file) return true;
        if (!fgets(line, sizeof line, file)) line[0] = '\0';
        fclose(file);
        const char *state = strrchr(line, ')');
        if (!state || strchr("ZX", state[2])) return true;
        usleep(10000);
    }
    return false;
}

/* A shell with its standard output in `out`. */
static int start_shell(const char *script, int out, bool own_group, pid_t *pid)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct process_file files[] = {{out, STDOUT_FILENO}};
    const struct process_start start = {
        .program = "sh", .argv = argv, .files = files, .file_count = 1, .own_group = own_group};
    return process_start(&start, pid);
}

/* The process id that a shell printed. */
static pid_t read_pid(int fd)
{
    char text[32] = "";
    size_t used = 0;
    while (used < sizeof text - 1 && !strchr(text, '\n')) {
        ssize_t got = read(fd, text + used, sizeof text - 1 - used);
        if (got <= 0) break;
        used += (size_t)got;
        text[used] = '\0';
    }
    return (pid_t)atoi(text);
}

static void make_pipe(int ends[2])
{
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
}

TEST(it_dies_when_its_parent_is_killed)
{
    int out[2];
    pid_t ignored;
    make_pipe(out);
    pid_t parent = fork();
    if (parent == 0) {
        if (start_shell("echo $$; exec sleep 1000", out[1], false, &ignored) != 0) _exit(1);
        pause();
        _exit(1);
    }
    close(out[1]);
    pid_t pid = read_pid(out[0]);
    assert_true(pid > 0);
    assert_false(is_gone_within(pid, 0.05));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_true(is_gone_within(pid, 5));
    close(out[0]);
}

TEST(what_it_forked_ends_with_it)
{
    int out[2];
    pid_t pid;
    make_pipe(out);
    assert_int_equal(start_shell("sleep 1000 & echo $!; wait", out[1], true, &pid), 0);
    pid_t forked = read_pid(out[0]);
    assert_true(forked > 0);
    assert_false(process_has_ended(pid));
    int status = process_end(pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(is_gone_within(forked, 5));
    close(out[0]);
    close(out[1]);
}

TEST(what_it_left_behind_ends_too)
{
    int out[2];
    pid_t pid;
    make_pipe(out);
    assert_int_equal(start_shell("sleep 1000 & echo $!; exit 3", out[1], true, &pid), 0);
    pid_t forked = read_pid(out[0]);
    while (!process_has_ended(pid))
        usleep(1000);
    int status = process_end(pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_true(is_gone_within(forked, 5));
    close(out[0]);
    close(out[1]);
}

/* The shell of a parent that is killed, with what that shell left behind; stopped or not. */
static void killed_with_its_parent(bool stopped)
{
    int out[2];
    pid_t pid;
    make_pipe(out);
    pid_t parent = fork();
    if (parent == 0) {
        if (start_shell("sleep 20 & echo $!; wait", out[1], true, &pid) != 0) _exit(1);
        pause();
        _exit(1);
    }
    close(out[1]);
    pid_t forked = read_pid(out[0]);
    assert_true(forked > 0);
    if (stopped) assert_int_equal(kill(-getpgid(forked), SIGSTOP), 0);
    assert_false(is_gone_within(forked, 0.05));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_true(is_gone_within(forked, 2));
    close(out[0]);
}

TEST(what_it_forked_dies_when_its_parent_is_killed)
{
    killed_with_its_parent(false);
}

TEST(even_when_it_was_stopped)
{
    killed_with_its_parent(true);
}

/* A guard that had the parent's end of a pipe would keep it open. */
TEST(the_guard_holds_nothing_of_its_parents)
{
    int out[2], pipe_ends[2];
    char none;
    pid_t pid;
    make_pipe(out);
    make_pipe(pipe_ends);
    assert_int_equal(start_shell("echo 1; exec sleep 1000", out[1], true, &pid), 0);
    assert_int_equal(read_pid(out[0]), 1);
    close(pipe_ends[1]);
    struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 2000), 1);
    assert_int_equal(read(pipe_ends[0], &none, 1), 0);
    process_end(pid);
    /* Nor is it left for somebody to wait for. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    close(pipe_ends[0]);
    close(out[0]);
    close(out[1]);
}

static void note(int signal_number)
{
}

TEST(its_signals_are_open_and_unhandled)
{
    int out[2];
    pid_t pid;
    sigset_t all;
    make_pipe(out);
    signal(SIGTERM, note);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int error = start_shell("echo 1; exec sleep 1000", out[1], false, &pid);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    signal(SIGTERM, SIG_DFL);
    assert_int_equal(error, 0);
    assert_int_equal(read_pid(out[0]), 1);
    kill(pid, SIGTERM);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    close(out[0]);
    close(out[1]);
}

TEST(a_program_that_cannot_be_started_is_told)
{
    char path[] = "/tmp/assay-test-XXXXXX";
    const char *const argv[] = {"x", NULL};
    struct process_start start = {.program = "no-such-program-anywhere", .argv = argv};
    pid_t pid;
    assert_int_equal(process_start(&start, &pid), ENOENT);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "echo no program\n", 16), 16);
    close(fd);
    start.program = path;
    assert_int_equal(process_start(&start, &pid), EACCES);
    chmod(path, 0755);
    assert_int_equal(process_start(&start, &pid), ENOEXEC);
    unlink(path);
}

TEST(itself_is_its_file_or_what_it_was_told)
{
    static const char *const worker[] = {"worker", "-v", NULL};
    static const char *const python[] = {"python3", "-m", "assay", NULL};
    const char *argv[PROCESS_SELF_MOST], *many[PROCESS_SELF_MOST + 1];
    assert_string_equal(process_self(worker, argv), "/proc/self/exe");
    assert_string_equal(argv[0], "assay");
    assert_string_equal(argv[1], "worker");
    assert_string_equal(argv[2], "-v");
    assert_null(argv[3]);
    process_set_self(python);
    assert_string_equal(process_self(worker, argv), "python3");
    assert_string_equal(argv[0], "python3");
    assert_string_equal(argv[2], "assay");
    assert_string_equal(argv[4], "-v");
    assert_null(argv[5]);
    process_set_self(NULL);
    for (int i = 0; i < PROCESS_SELF_MOST; i++)
        many[i] = "x";
    many[PROCESS_SELF_MOST - 1] = NULL;
    assert_null(process_self(many, argv));
    many[PROCESS_SELF_MOST - 2] = NULL;
    assert_non_null(process_self(many, argv));
}
