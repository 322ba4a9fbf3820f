#include "case/surroundings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system_file.h"

/* The counters step by a tick; fewer of them say little about shares. */
enum { LEAST_TICKS = 20 };

/* Columns of the first line of /proc/stat (proc_stat(5)), in ticks. */
enum { USER, NICE, SYSTEM, IDLE, IO_WAIT, IRQ, SOFT_IRQ, STEAL, COUNTERS };

static double tick_s(void)
{
    return 1.0 / (double)sysconf(_SC_CLK_TCK);
}

static void read_counters(struct machine_use *use, const char *root)
{
    char text[SYSTEM_FILE_START];
    double ticks[COUNTERS], total = 0;
    if (!system_file_read(root, "/proc/stat", text, sizeof text)) return;
    if (sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[USER], &ticks[NICE],
               &ticks[SYSTEM], &ticks[IDLE], &ticks[IO_WAIT], &ticks[IRQ], &ticks[SOFT_IRQ],
               &ticks[STEAL]) != COUNTERS)
        return;
    for (int i = 0; i < COUNTERS; i++)
        total += ticks[i];
    use->total_s = total * tick_s();
    use->steal_s = ticks[STEAL] * tick_s();
    use->busy_s = (total - ticks[IDLE] - ticks[IO_WAIT] - ticks[STEAL]) * tick_s();
}

static double used_s(int who)
{
    struct rusage usage;
    if (getrusage(who, &usage) != 0) return NAN;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void machine_use_read(struct machine_use *use, const char *root)
{
    char text[SYSTEM_FILE_START];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *use = (struct machine_use){-1, NAN, NAN, NAN, NAN, NAN};
    if (processors > 0) use->processors = (int32_t)processors;
    if (!system_file_read(root, "/proc/loadavg", text, sizeof text) ||
        sscanf(text, "%lf", &use->load) != 1)
        use->load = NAN;
    read_counters(use, root);
    use->own_s = used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN);
}

void surroundings_init(struct surroundings *around)
{
    *around = (struct surroundings){-1, NAN, NAN, NAN, NAN};
}

/* 0 to 1: the process's own clock and the machine's do not step together. */
static double share_of(double part_s, double total_s)
{
    if (isnan(part_s) || !(total_s >= LEAST_TICKS * tick_s())) return NAN;
    return fmin(fmax(part_s / total_s, 0), 1);
}

void surroundings_between(struct surroundings *around, const struct machine_use *from,
                          const struct machine_use *to)
{
    double total_s = to->total_s - from->total_s;
    double others_s = to->busy_s - from->busy_s - (to->own_s - from->own_s);
    *around = (struct surroundings){
        .processors = to->processors,
        .start_load = from->load,
        .end_load = to->load,
        .other_share = share_of(others_s, total_s),
        .steal_share = share_of(to->steal_s - from->steal_s, total_s),
    };
}

void causes_add(struct causes *causes, const char *format, ...)
{
    va_list values;
    if (causes->count == CAUSES_MOST) return;
    va_start(values, format);
    vsnprintf(causes->text[causes->count++], CAUSE_TEXT, format, values);
    va_end(values);
}

void surroundings_causes(struct causes *causes, const struct surroundings *around,
                         int other_processes)
{
    if (around->other_share > SURROUNDINGS_MOST_OTHER)
        causes_add(causes, "other programs took %.0f %% of the processors' time",
                   100 * around->other_share);
    if (around->steal_share > SURROUNDINGS_MOST_STEAL)
        causes_add(causes, "the hypervisor took %.0f %% of the processors' time",
                   100 * around->steal_share);
    if (other_processes > 0)
        causes_add(causes, "%d other process%s on the GPU", other_processes,
                   other_processes == 1 ? "" : "es");
}
