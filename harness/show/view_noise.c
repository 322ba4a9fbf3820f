/* view_noise.c - how many rows of a run are noisy, and what was seen that may have made them so. */
#include <math.h>

#include "base/text.h"
#include "device/nvml.h"
#include "show/view.h"

/* SM clocks of a run that are further apart than this, as a fraction, are worth naming. */
static const double STEADY_CLOCK = 0.05;

/* The worst that any launch saw; fmax leaves NAN out. */
static void worst_of(const struct stored_run *run, struct surroundings *worst, double *load,
                     int *other_processes)
{
    surroundings_init(worst);
    *load = NAN;
    *other_processes = -1;
    for (int i = 0; i < run->launch_count; i++) {
        const struct launch_info *launch = &run->launches[i];
        const struct surroundings *around = &launch->around;
        const int32_t processes[] = {launch->start.other_processes, launch->end_other_processes};
        *load = fmax(*load, fmax(around->start_load, around->end_load));
        if (around->processors > 0) worst->processors = around->processors;
        worst->other_share = fmax(worst->other_share, around->other_share);
        worst->steal_share = fmax(worst->steal_share, around->steal_share);
        for (int p = 0; p < 2; p++)
            if (processes[p] > *other_processes) *other_processes = processes[p];
    }
}

static void clock_causes(struct causes *causes, const struct view *view)
{
    double least = INFINITY, most = 0;
    uint64_t reasons = 0;
    for (int i = 0; i < view->count; i++) {
        const struct case_result *result = &view->rows[i].result;
        if (!status_has_time(result->status)) continue;
        least = fmin(least, result->sm_mhz);
        most = fmax(most, result->sm_mhz);
        reasons |= result->clock_reasons;
    }
    if (most > least * (1 + STEADY_CLOCK))
        causes_add(causes, "SM clock from %.0f to %.0f MHz", least, most);
    if (nvml_is_slowdown(reasons)) {
        char text[CAUSE_TEXT / 2];
        nvml_reasons_text(reasons, text, sizeof text);
        causes_add(causes, "the GPU slowed down (%s)", text);
    }
}

void view_noise(const struct view *view, struct view_noise *noise)
{
    struct surroundings around;
    double load;
    int other_processes;
    *noise = (struct view_noise){0};
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        noise->rows += !row->is_hidden && status_has_time(row->result.status);
        noise->noisy += !row->is_hidden && row->is_noisy;
    }
    worst_of(view->run, &around, &load, &other_processes);
    if (around.processors > 0 && load > around.processors)
        causes_add(&noise->causes, "load %.1f on %d processor%s", load, around.processors,
                   around.processors == 1 ? "" : "s");
    surroundings_causes(&noise->causes, &around, other_processes);
    clock_causes(&noise->causes, view);
}

bool view_noise_text(const struct view *view, char text[NOISE_TEXT])
{
    struct view_noise noise;
    view_noise(view, &noise);
    snprintf(text, NOISE_TEXT, "%s: %d of %d rows unreliable (± above %g %%)",
             noise.causes.count ? noise.causes.text[0] : "no cause was seen", noise.noisy,
             noise.rows, 100 * view->most_spread);
    for (int i = 1; i < noise.causes.count; i++)
        text_add(text, NOISE_TEXT, i == 1 ? "\nseen as well: " : ", ", "%s", noise.causes.text[i]);
    return noise.noisy > 0;
}
