/*
 * recorded.c - stands in for a CUDA program with the library in it: it writes the file that the
 * library would (device/trace_writer.h), and misbehaves as it is told. Compiled by
 * tests/cli/time.sh.
 *
 *   recorded WORD...      each does one thing, in this order:
 *     run=NAME,COUNT,NS[,RANGE]   COUNT launches of a kernel, each of NS and up to 2 % more
 *     grid=N    the grid of the launches that follow
 *     gpu=N     the device of those
 *     seed=N    of their noise; else each process has its own
 *     fork      record what follows in a child process too, and wait for it
 *     lost=N, failed=TEXT, flush, print, close, sleep=SECONDS, exit=N, crash, kill, _exit=N
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/trace_writer.h"

static struct trace_writer *writer;
static int grid = 132, gpu;
static uint64_t now_ns = 1000, seed;

static void open_writer(void)
{
    const char *folder = getenv("ASSAY_TIME_FOLDER");
    writer = folder ? trace_writer_open(folder) : NULL;
    if (!writer) exit(99);
    seed = (uint64_t)getpid();
    for (int i = 0; i < 2; i++) {
        struct trace_device device = {i, 90, 132, 0, 1 << 18, 50 << 20, INT64_C(80) << 30, "", ""};
        snprintf(device.name, sizeof device.name, "Stand-in %d", i);
        snprintf(device.uuid, sizeof device.uuid, "GPU-0000000%d", i);
        trace_writer_device(writer, &device);
    }
}

static void run(char *what)
{
    char *name = strsep(&what, ","), *count = strsep(&what, ","), *ns = strsep(&what, ",");
    for (long i = 0; i < atol(count); i++) {
        uint64_t took =
            (uint64_t)(atof(ns) * (1 + 0.02 * (double)(rng_mix(seed, i) >> 32) / 4294967296.0));
        const struct trace_launch launch = {
            name, what, now_ns, now_ns + took, gpu, {grid, 1, 1}, {256, 1, 1}, 32, 1024, 0, 0};
        trace_writer_launch(writer, &launch);
        now_ns += took + 100;
        if (i % 10000 == 9999) trace_writer_flush(writer);
    }
}

static void record_child(void)
{
    pid_t pid = fork();
    if (pid > 0) waitpid(pid, NULL, 0);
    if (pid == 0) open_writer();
}

static void obey(char *word)
{
    char *value = strchr(word, '=');
    if (value) *value++ = '\0';
    if (!strcmp(word, "run")) run(value);
    if (!strcmp(word, "grid")) grid = atoi(value);
    if (!strcmp(word, "gpu")) gpu = atoi(value);
    if (!strcmp(word, "seed")) seed = (uint64_t)atol(value);
    if (!strcmp(word, "fork")) record_child();
    if (!strcmp(word, "lost")) trace_writer_lost(writer, (uint64_t)atol(value));
    if (!strcmp(word, "failed")) trace_writer_failed(writer, value);
    if (!strcmp(word, "flush")) trace_writer_flush(writer);
    if (!strcmp(word, "print")) puts("the program's own output");
    if (!strcmp(word, "close"))
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
    if (!strcmp(word, "sleep")) usleep((useconds_t)(1e6 * atof(value)));
    if (!strcmp(word, "crash")) abort();
    if (!strcmp(word, "kill")) raise(SIGKILL);
    if (!strcmp(word, "_exit")) _exit(atoi(value));
    if (!strcmp(word, "exit")) {
        trace_writer_end(writer);
        exit(atoi(value));
    }
}

int main(int argc, char **argv)
{
    open_writer();
    for (int i = 1; i < argc; i++)
        obey(argv[i]);
    trace_writer_end(writer);
    return 0;
}
