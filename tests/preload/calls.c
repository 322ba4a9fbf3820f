/*
 * calls.c - a library to preload: the Nth of the system calls below fails, or the process is killed
 * there. For the tests alone (tests/cli/moments.sh).
 *
 *   MOMENT=N        which call, from 1; 0 or unset: none
 *   MOMENT_ERRNO=E  it fails with this errno; unset: SIGKILL instead of it
 *   MOMENT_IN=ROLE  in the worker ("worker") or in any other process of the program ("parent")
 *   MOMENT_COUNT=FILE  at its end the process writes here how many there were
 *
 * A write that is to fail writes half of what it should first, as a full disk does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static long calls, moment;
static int fails_with;
static bool is_chosen;

static bool has_role(const char *role)
{
    char line[4096] = "";
    int fd = (int)(intptr_t)open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0) close(fd);
    const char *command = got > 0 ? line + strlen(line) + 1 : "";
    return (strcmp(command, "worker") == 0) == (strcmp(role, "worker") == 0);
}

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *role = getenv("MOMENT_IN");
    is_chosen = has_role(role ? role : "parent");
    moment = is_chosen ? number("MOMENT") : 0;
    fails_with = (int)number("MOMENT_ERRNO");
    calls = 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("MOMENT_COUNT");
    FILE *out = is_chosen && path ? fopen(path, "w") : NULL;
    if (out == NULL) return;
    fprintf(out, "%ld\n", calls);
    fclose(out);
}

/* Whether this call is the one. It does not return where that is the end. */
static bool is_now(void)
{
    if (++calls != moment) return false;
    if (fails_with == 0) raise(SIGKILL);
    errno = fails_with;
    return true;
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* ------------------------------------------------------------------- files -- */

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    int (*next)(const char *, int, mode_t) = (int (*)(const char *, int, mode_t))real("open");
    return is_now() ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    int (*next)(const char *, int, mode_t) = (int (*)(const char *, int, mode_t))real("open64");
    return is_now() ? -1 : next(path, flags, mode);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t at)
{
    ssize_t (*next)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))real("pwrite64");
    if (!is_now()) return next(fd, data, bytes, at);
    if (next(fd, data, bytes / 2, at) < 0) return -1;
    errno = fails_with;
    return -1;
}

int ftruncate(int fd, off_t size)
{
    int (*next)(int, off_t) = (int (*)(int, off_t))real("ftruncate");
    return is_now() ? -1 : next(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    int (*next)(int, off64_t) = (int (*)(int, off64_t))real("ftruncate64");
    return is_now() ? -1 : next(fd, size);
}

int fdatasync(int fd)
{
    int (*next)(int) = (int (*)(int))real("fdatasync");
    return is_now() ? -1 : next(fd);
}

int unlink(const char *path)
{
    int (*next)(const char *) = (int (*)(const char *))real("unlink");
    return is_now() ? -1 : next(path);
}

int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t) = (int (*)(const char *, mode_t))real("mkdir");
    return is_now() ? -1 : next(path, mode);
}

/* ------------------------------------------------------- memory, processes -- */

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t from)
{
    void *(*next)(void *, size_t, int, int, int, off64_t) =
        (void *(*)(void *, size_t, int, int, int, off64_t))real("mmap64");
    return is_now() ? MAP_FAILED : next(at, bytes, protection, flags, fd, from);
}

int memfd_create(const char *name, unsigned flags)
{
    int (*next)(const char *, unsigned) = (int (*)(const char *, unsigned))real("memfd_create");
    return is_now() ? -1 : next(name, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
    int (*next)(int, int, int, int *) = (int (*)(int, int, int, int *))real("socketpair");
    return is_now() ? -1 : next(domain, type, protocol, ends);
}

pid_t fork(void)
{
    pid_t (*next)(void) = (pid_t(*)(void))real("fork");
    return is_now() ? -1 : next();
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    ssize_t (*next)(int, const void *, size_t, int) =
        (ssize_t(*)(int, const void *, size_t, int))real("send");
    return is_now() ? -1 : next(fd, data, bytes, flags);
}

ssize_t recv(int fd, void *data, size_t bytes, int flags)
{
    ssize_t (*next)(int, void *, size_t, int) = (ssize_t(*)(int, void *, size_t, int))real("recv");
    return is_now() ? -1 : next(fd, data, bytes, flags);
}
