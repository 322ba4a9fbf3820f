#include "gate/program_wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "run/interrupt.h"

enum { TICK_MS = 50, GRACE_MS = 5000 };

/* It stands still while this process is stopped, as what it started is then (Ctrl-Z). */
static long now_ms(void)
{
    return (long)(1e3 * (clock_s() - interrupt_stopped_s()));
}

/* A descriptor of the process becomes readable at its end; where the kernel has none (before 5.3)
 * poll ignores the -1, and the end is noticed at the next tick. */
enum wait_end program_wait(pid_t pid, long ms, int *status)
{
    long until = now_ms() + ms;
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    enum wait_end end;
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        end = WAIT_ENDED;
        if (ended == pid || (ended < 0 && errno != EINTR)) break;
        end = WAIT_OVER;
        if (ms >= 0 && now_ms() >= until) break;
        interrupt_poll(&process, TICK_MS);
        end = WAIT_STOPPED;
        if (interrupt_signal() != 0) break;
    }
    if (process.fd >= 0) close(process.fd);
    return end;
}

/* The process, or its group (a negative number). */
static void stop(pid_t pid, pid_t whom)
{
    int status;
    kill(whom, SIGTERM);
    for (long until = now_ms() + GRACE_MS; now_ms() < until; usleep(TICK_MS * 1000))
        if (waitpid(pid, &status, WNOHANG) == pid) return;
    kill(whom, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
}

void program_stop(pid_t pid)
{
    stop(pid, pid);
}

enum wait_end program_wait_group(pid_t pid, int *status)
{
    enum wait_end end = program_wait(pid, -1, status);
    if (end == WAIT_STOPPED)
        stop(pid, -pid);
    else
        process_end(pid);
    return end;
}
