#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "base/text.h"
#include "run/progress.h"

enum { COLUMNS = 80 };

static const double REDRAW_S = 0.2;

static double seconds_left(const struct progress *progress, double now_s)
{
    if (progress->group < 2 || progress->done == 0) return NAN;
    double pace = (now_s - progress->started_s) / progress->done;
    return pace * (progress->cases - progress->done);
}

/* "1:05 left"; "" while it is unknown. */
static void left_text(char out[32], double seconds)
{
    out[0] = '\0';
    if (isnan(seconds)) return;
    long whole = (long)ceil(seconds);
    if (whole >= 3600)
        snprintf(out, 32, "  %ld:%02ld:%02ld left", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(out, 32, "  %ld:%02ld left", whole / 60, whole % 60);
}

void progress_line(const struct progress *progress, double now_s, int columns,
                   char out[PROGRESS_LINE])
{
    char bar[TERMINAL_BAR], left[32];
    terminal_bar(progress->done, progress->cases, bar);
    left_text(left, seconds_left(progress, now_s));
    snprintf(out, PROGRESS_LINE, "%s %d/%d%s  %s%s%s", bar, progress->done, progress->cases, left,
             progress->text, progress->step[0] ? "  " : "", progress->step);
    /* A full last column would wrap, and a wrapped bar cannot be erased. */
    if (columns > 0 && columns <= PROGRESS_LINE) out[columns - 1] = '\0';
}

static void erase(struct progress *progress)
{
    if (progress->drawn) fputs("\r\033[K", progress->out);
    progress->drawn = false;
}

static void draw(struct progress *progress, bool at_once)
{
    char line[PROGRESS_LINE];
    double now_s = clock_s();
    if (!progress->terminal) return;
    if (!at_once && now_s - progress->drawn_s < REDRAW_S) return;
    progress_line(progress, now_s, terminal_width(progress->out, COLUMNS), line);
    fprintf(progress->out, "\r%s\033[K", line);
    fflush(progress->out);
    progress->drawn_s = now_s;
    progress->drawn = true;
}

void progress_begin(struct progress *progress, FILE *out, int groups, int cases)
{
    *progress = (struct progress){.out = out, .groups = groups, .cases = cases};
    progress->quiet = terminal_is_quiet();
    progress->terminal = terminal_is_live(out) && !progress->quiet;
    progress->colour = terminal_has_colour(out);
    progress->started_s = clock_s();
    progress->drawn_s = -INFINITY;
}

void progress_group(struct progress *progress, const char *heading)
{
    progress->group++;
    progress->step[0] = '\0';
    memset(progress->seen, 0, sizeof progress->seen);
    snprintf(progress->text, sizeof progress->text, "%s", heading);
    draw(progress, false);
}

void progress_step(struct progress *progress, const char *step)
{
    snprintf(progress->step, sizeof progress->step, "%s", step);
    draw(progress, false);
}

void progress_case(struct progress *progress, const char *name, int status, const char *reason)
{
    bool fine = status_has_time(status) || status == STATUS_SKIPPED;
    progress->done++;
    if (status >= 0) progress->seen[status]++;
    if (!fine) {
        erase(progress);
        fprintf(progress->out, "%s%s: %s%s%s%s\n", progress->colour ? "\033[31m" : "", name,
                status < 0 ? "missing" : status_name((enum case_status)status),
                reason[0] ? ": " : "", reason, progress->colour ? "\033[0m" : "");
    }
    draw(progress, !fine);
}

/* "12 ok, 1 skipped" */
static void outcomes(const struct progress *progress, char *out, size_t size)
{
    out[0] = '\0';
    for (int s = 0; s < STATUSES; s++)
        if (progress->seen[s])
            text_add(out, size, ", ", "%d %s", progress->seen[s], status_name((enum case_status)s));
}

void progress_group_end(struct progress *progress, const char *instead, double seconds)
{
    char counts[128];
    if (progress->terminal) {
        draw(progress, false);
        return;
    }
    if (progress->quiet) return;
    outcomes(progress, counts, sizeof counts);
    if (!counts[0]) snprintf(counts, sizeof counts, "%s", instead);
    fprintf(progress->out, "[%d/%d] %s%s%s: %s%s%.2f s\n", progress->group, progress->groups,
            progress->where ? progress->where : "", progress->where ? " " : "", progress->text,
            counts, counts[0] ? ", " : "", seconds);
    fflush(progress->out);
}

void progress_end(struct progress *progress)
{
    erase(progress);
    fflush(progress->out);
}
