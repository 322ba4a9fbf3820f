/*
 * worker.h - the child process that owns a device and measures groups on it.
 *
 * It is this program, started as `assay worker OBJECT...` (cmd_worker) with the files of shared
 * objects that its parent has loaded (object/object.h), and its socket on file descriptor
 * WORKER_SOCKET and the status board on WORKER_BOARD. It answers messages (wire.h) until it is told
 * to quit, its parent dies, or a variant crashes it.
 */
#pragma once

enum { WORKER_SOCKET = 3, WORKER_BOARD = 4 };

/* The command `assay worker`; returns the exit code. */
int cmd_worker(int argc, char **argv);
