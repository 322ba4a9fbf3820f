#define _GNU_SOURCE /* ST_NOEXEC */
#include "trace/program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "case/surroundings.h"
#include "device/nvml.h"
#include "run/interrupt.h"
#include "trace/trace_read.h"

enum { TICK_MS = 20 };
static const double LOOK_S = 1;          /* between looks at the device */
static const double OWN_INTERRUPT_S = 1; /* a terminal's Ctrl-C has reached the program itself */
static const double PATIENCE_S = 10;     /* with a program that was asked to end */

/* --------------------------------------------------------------- library -- */

/* What make built from device/cuda/inject, if it could, and a zero behind it. */
static const unsigned char library[] = {
#include "inject.inc"
    0};

static const char *chosen(void)
{
    const char *path = getenv("ASSAY_TIME_LIBRARY");
    return path && path[0] ? path : NULL;
}

int injected_check(void)
{
    if (chosen() && access(chosen(), R_OK) != 0)
        return assay_error("ASSAY_TIME_LIBRARY: %s: %s", chosen(), strerror(errno));
    if (chosen() || sizeof library > 1) return 0;
    return assay_error("this program was built without CUDA's CUPTI: it cannot record kernels");
}

/* The library's file: that which was chosen, else one in the folder. */
static int place(const char *folder, char path[PATH_MAX])
{
    struct statvfs about;
    snprintf(path, PATH_MAX, chosen() ? "%s" : "%s/libassay_time.so", chosen() ? chosen() : folder);
    if (chosen()) return 0;
    if (statvfs(folder, &about) == 0 && about.f_flag & ST_NOEXEC)
        return assay_error("%s: programs may not be loaded from there (mounted noexec): "
                           "set TMPDIR to a folder from which they may",
                           folder);
    return temp_folder_write(path, library, sizeof library - 1);
}

int program_inject(const char *folder)
{
    char path[PATH_MAX];
    if (place(folder, path) != 0) return -1;
    if (setenv("CUDA_INJECTION64_PATH", path, 1) == 0 &&
        setenv("NVTX_INJECTION64_PATH", path, 1) == 0 &&
        setenv("ASSAY_TIME_FOLDER", folder, 1) == 0)
        return 0;
    return assay_error("cannot set the program's environment: %s", strerror(errno));
}

/* ---------------------------------------------------------------- device -- */

struct watched {
    bool is_open, is_given_up;
    double next_look_s;
};

/* The device of the first process that has one, as soon as its file says so. */
static void find_device(struct program_run *run, struct watched *watched)
{
    struct trace trace;
    if (trace_read(&trace, run->folder) == 0 && trace.device_count > 0) {
        watched->is_open = nvml_open(trace.devices[0].uuid) == 0;
        watched->is_given_up = !watched->is_open;
        if (watched->is_open) snprintf(run->uuid, sizeof run->uuid, "%s", trace.devices[0].uuid);
    }
    trace_release(&trace);
}

static void look(struct program_run *run, struct watched *watched)
{
    struct device_state state;
    if (watched->is_given_up || clock_s() < watched->next_look_s) return;
    watched->next_look_s = clock_s() + (watched->is_open ? LOOK_S : 0);
    bool was_open = watched->is_open;
    if (!was_open) find_device(run, watched);
    if (!watched->is_open) return;
    device_state_init(&state);
    nvml_state(&state);
    if (!was_open) run->start = state;
    run->clock_reasons |= state.clock_reasons;
}

/* --------------------------------------------------------------- signals -- */

struct ending {
    double since_s; /* 0: there was none */
    bool is_told, is_killed;
};

static void hand_on(struct ending *ending, pid_t pid)
{
    int signal_number = interrupt_signal();
    if (signal_number == 0) return;
    if (ending->since_s == 0) ending->since_s = clock_s();
    double waited_s = clock_s() - ending->since_s;
    if (!ending->is_told && (signal_number != SIGINT || waited_s >= OWN_INTERRUPT_S)) {
        kill(pid, signal_number);
        ending->is_told = true;
    }
    if (!ending->is_killed && waited_s >= PATIENCE_S) {
        kill(pid, SIGKILL);
        ending->is_killed = true;
    }
}

/* ------------------------------------------------------------------- run -- */

/* A signal that came is pending and would end each wait at once: then the time is waited for. */
static void wait_a_tick(void)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    struct pollfd none = {.fd = -1};
    if (interrupt_signal() != 0)
        nanosleep(&tick, NULL);
    else
        interrupt_poll(&none, TICK_MS);
}

static int wait_for(struct program_run *run, pid_t pid, struct watched *watched)
{
    struct ending ending = {0};
    while (!process_has_ended(pid)) {
        wait_a_tick();
        hand_on(&ending, pid);
        look(run, watched);
    }
    while (waitpid(pid, &run->status, 0) < 0)
        if (errno != EINTR) return assay_error("waiting for the program: %s", strerror(errno));
    return 0;
}

int program_run(struct program_run *run)
{
    const struct process_start start = {.program = run->argv[0], .argv = run->argv};
    struct machine_use before, after;
    struct watched watched = {0};
    pid_t pid;
    device_state_init(&run->start);
    device_state_init(&run->end);
    run->uuid[0] = '\0';
    run->clock_reasons = 0;
    machine_use_read(&before, "");
    clock_gettime(CLOCK_REALTIME, &run->started);
    int error = process_start(&start, &pid);
    if (error != 0) return assay_error("cannot start %s: %s", run->argv[0], strerror(error));
    int status = wait_for(run, pid, &watched);
    machine_use_read(&after, "");
    surroundings_between(&run->around, &before, &after);
    if (!watched.is_open && !watched.is_given_up) find_device(run, &watched);
    if (watched.is_open) nvml_state(&run->end);
    nvml_close();
    return status;
}
