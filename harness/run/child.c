#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "measure/worker.h"
#include "object/object.h"
#include "run/child.h"
#include "run/interrupt.h"

enum { QUIT_MS = 5000, OPEN_MS = 60000, OPEN_TRIES = 3 };

static void *share_board(int *fd)
{
    *fd = memfd_create("assay-board", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, sizeof(struct board)) < 0) return MAP_FAILED;
    return mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

/* Both descriptors are first moved to higher numbers, so that dup2 overwrites neither. */
static int spawn_worker(struct child *child, int socket, int board)
{
    const char *arguments[OBJECTS_MOST + 2] = {"worker"}, *argv[PROCESS_SELF_MOST];
    objects_arguments(arguments + 1);
    const char *program = process_self(arguments, argv);
    if (!program) return assay_error("starting a worker: too many arguments");
    const struct process_file files[] = {
        {fcntl(socket, F_DUPFD_CLOEXEC, WORKER_BOARD + 1), WORKER_SOCKET},
        {fcntl(board, F_DUPFD_CLOEXEC, WORKER_BOARD + 1), WORKER_BOARD},
    };
    const struct process_start start = {
        .program = program, .argv = argv, .files = files, .file_count = 2, .own_group = true};
    int error = files[0].from < 0 || files[1].from < 0 ? errno : process_start(&start, &child->pid);
    for (int i = 0; i < 2; i++)
        if (files[i].from >= 0) close(files[i].from);
    if (error == 0) {
        interrupt_stops_too(child->pid, true);
        return 0;
    }
    child->pid = 0;
    return assay_error("starting a worker (%s): %s", program, strerror(error));
}

static int start_process(struct child *child)
{
    int pair[2], board;
    if (objects_unchanged() < 0) return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return assay_error("a socket for the worker: %s", strerror(errno));
    child->board = share_board(&board);
    int status = child->board == MAP_FAILED
                     ? assay_error("memory shared with the worker: %s", strerror(errno))
                     : spawn_worker(child, pair[1], board);
    if (board >= 0) close(board);
    close(pair[1]);
    child->socket = pair[0];
    return status;
}

/* What there is to read, with nothing left to wait for. */
static enum child_wait take_part(struct child *child)
{
    static const enum child_wait got[] = {[WIRE_WHOLE] = CHILD_MESSAGE,
                                          [WIRE_PART] = CHILD_TICK,
                                          [WIRE_GONE] = CHILD_GONE,
                                          [WIRE_MALFORMED] = CHILD_GARBLED};
    return got[wire_receive_some(child->socket, &child->inbox, MSG_DONTWAIT)];
}

static double awake_s(void)
{
    return clock_s() - interrupt_stopped_s();
}

enum child_wait child_wait(struct child *child, int ms)
{
    double until_s = awake_s() + 1e-3 * ms;
    enum child_wait got = CHILD_TICK;
    for (int left_ms = ms; got == CHILD_TICK && left_ms >= 0;) {
        struct pollfd poll_for = {.fd = child->socket, .events = POLLIN};
        int ready = interrupt_poll(&poll_for, left_ms);
        if (interrupt_signal() != 0) return CHILD_STOPPED;
        /* Something that it forked may hold its end of the socket. */
        if (ready <= 0) return process_has_ended(child->pid) ? CHILD_GONE : CHILD_TICK;
        got = take_part(child);
        left_ms = (int)(1e3 * (until_s - awake_s()));
    }
    return got;
}

/* Ask a question whose answer is the state of its device. */
static int ask(struct child *child, enum wire_type question, struct device_state *state)
{
    enum wire_type type;
    void *data;
    size_t bytes;
    if (child->pid <= 0 || wire_send(child->socket, question, NULL, 0) != 0) return -1;
    if (child_wait(child, QUIT_MS) != CHILD_MESSAGE) return -1;
    wire_inbox_take(&child->inbox, &type, &data, &bytes);
    bool answered = type == WIRE_STATE && bytes == sizeof *state;
    if (answered && state) memcpy(state, data, bytes);
    free(data);
    return answered ? 0 : -1;
}

int child_look(struct child *child, struct device_state *state)
{
    return ask(child, WIRE_LOOK, state);
}

void child_quit(struct child *child, struct device_state *state)
{
    /* It need not answer or finish: releasing a GPU takes a while and has no result. */
    ask(child, WIRE_QUIT, state);
    child_reap(child, NULL, 0);
}

/* Wait for the exit status, and kill the process after a moment, with all that it forked. The
 * moment lets a crashing process end by its own signal, and one whose socket was closed exit
 * normally. */
static int await_end(pid_t pid)
{
    enum { CHECKS = 50, CHECK_US = 2000 };
    for (int i = 0; i < CHECKS && !process_has_ended(pid) && interrupt_signal() == 0; i++)
        usleep(CHECK_US);
    return process_end(pid);
}

void child_reap(struct child *child, char *how, size_t size)
{
    snprintf(how, size, "did not start");
    if (child->pid > 0) interrupt_stops_too(child->pid, false);
    if (child->socket >= 0) close(child->socket);
    if (child->pid > 0) process_describe(await_end(child->pid), how, size);
    free(child->inbox.body);
    if (child->board && child->board != MAP_FAILED) munmap(child->board, sizeof *child->board);
    *child = (struct child){.socket = -1};
}

static int died_opening(struct child *child)
{
    char how[ASSAY_MAX_REASON];
    child_reap(child, how, sizeof how);
    child->died = true;
    return assay_error("the worker died while it opened its device: %s", how);
}

/* The answer to WIRE_OPEN: READY and STATE, or FAILED. */
static int read_answer(struct child *child)
{
    for (int i = 0; i < 2; i++) {
        enum wire_type type;
        void *data;
        size_t bytes;
        enum child_wait got = child_wait(child, OPEN_MS);
        if (got == CHILD_STOPPED) return assay_error("interrupted");
        if (got == CHILD_TICK)
            return assay_error("the worker did not open its device within %d s", OPEN_MS / 1000);
        if (got == CHILD_GARBLED) return assay_error("bad answer");
        if (got == CHILD_GONE) return died_opening(child);
        wire_inbox_take(&child->inbox, &type, &data, &bytes);
        bool ready = type == WIRE_READY && bytes == sizeof child->device;
        bool state = type == WIRE_STATE && bytes == sizeof child->state;
        if (ready) memcpy(&child->device, data, bytes);
        if (state) memcpy(&child->state, data, bytes);
        if (!ready && !state) assay_error("%s", type == WIRE_FAILED ? (char *)data : "bad answer");
        free(data);
        if (!ready && !state) return -1;
    }
    return 0;
}

static int open_once(struct child *child, const struct wire_open *open)
{
    *child = (struct child){.socket = -1};
    if (start_process(child) < 0) return -1;
    if (wire_send(child->socket, WIRE_OPEN, open, sizeof *open) < 0) return died_opening(child);
    return read_answer(child);
}

int child_start(struct child *child, const struct device_options *options)
{
    struct wire_open open = {.options = *options};
    *child = (struct child){.socket = -1};
    if (text_copy(open.spec, sizeof open.spec, options->spec) < 0)
        return assay_error("a device is named in at most %d characters", RESULT_MAX_SPEC - 1);
    for (int i = 0; i < OPEN_TRIES; i++) {
        if (open_once(child, &open) == 0) return 0;
        if (!child->died) break; /* it has said why, or nothing in time */
    }
    char why[4 * ASSAY_MAX_REASON];
    bool died = child->died;
    snprintf(why, sizeof why, "%s", assay_last_error());
    child_reap(child, NULL, 0);
    child->died = died;
    return assay_error("%s", why);
}
