/* test_child.c - how a worker ends when its parent lets go of it; this program is its worker. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/error.h"
#include "measure/worker.h"
#include "run/child.h"

static void start(struct child *child)
{
    const struct device_options options = {.spec = "host", .flush = 0};
    assert_int_equal(child_start(child, &options), 0);
    assert_true(child->pid > 0);
}

/* How it ended, after `signal` (0: none). */
static void reap(int signal, char how[ASSAY_MAX_REASON])
{
    struct child child;
    start(&child);
    if (signal != 0) assert_int_equal(kill(child.pid, signal), 0);
    child_reap(&child, how, ASSAY_MAX_REASON);
    assert_int_equal(child.pid, 0);
    assert_int_equal(child.socket, -1);
}

/* The moment that it has may be too short on a busy machine, but not each time. */
TEST(a_worker_that_waits_for_a_message_ends_by_itself)
{
    enum { TRIES = 10 };
    char how[ASSAY_MAX_REASON] = "";
    for (int i = 0; i < TRIES && strcmp(how, "exit status 5") != 0; i++)
        reap(0, how);
    assert_string_equal(how, "exit status 5");
}

TEST(one_that_does_not_is_killed)
{
    char how[ASSAY_MAX_REASON];
    reap(SIGSTOP, how);
    assert_string_equal(how, "signal 9, Killed");
}

TEST(one_that_died_says_of_which_signal)
{
    char how[ASSAY_MAX_REASON];
    reap(SIGUSR1, how);
    assert_string_equal(how, "signal 10, User defined signal 1");
}

TEST(one_that_is_told_to_quit_reports_its_device)
{
    struct child child;
    struct device_state told, nothing;
    start(&child);
    memset(&told, 0xff, sizeof told);
    nothing = told;
    child_quit(&child, &told);
    assert_memory_not_equal(&told, &nothing, sizeof told);
    assert_int_equal(child.pid, 0);
}

/* ------------------------------------------------------------ while it opens -- */

/* The workers to come that are killed before they answer: the length of a file. */
static const char deaths[] = "ASSAY_TEST_DEATHS";

static void plan_deaths(char *path, int count)
{
    strcpy(path, "/tmp/assay-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, count), 0);
    close(fd);
    setenv(deaths, path, 1);
}

static void die_as_planned(void)
{
    struct stat file;
    const char *path = getenv(deaths);
    if (!path || stat(path, &file) != 0 || file.st_size == 0) return;
    if (truncate(path, file.st_size - 1) == 0) raise(SIGKILL);
}

TEST(one_that_is_killed_while_it_opens_is_started_again)
{
    struct child child;
    char path[32], how[ASSAY_MAX_REASON];
    plan_deaths(path, 2);
    start(&child);
    assert_false(child.died);
    child_reap(&child, how, sizeof how);
    unsetenv(deaths);
    unlink(path);
}

TEST(one_that_always_is_is_told)
{
    const struct device_options options = {.spec = "host", .flush = 0};
    struct child child;
    char path[32];
    plan_deaths(path, 100);
    assert_int_equal(child_start(&child, &options), -1);
    assert_string_equal(assay_last_error(),
                        "the worker died while it opened its device: signal 9, Killed");
    assert_true(child.died);
    assert_int_equal(child.pid, 0);
    unsetenv(deaths);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0) die_as_planned();
    if (argc > 1 && strcmp(argv[1], "worker") == 0) return cmd_worker(argc - 1, argv + 1);
    /* Looking for leaks takes a sanitised worker longer than the moment that it has. */
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
    return test_main(NULL, NULL);
}
