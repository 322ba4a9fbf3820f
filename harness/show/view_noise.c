/* view_noise.c - how many rows of a run are noisy, and what was seen that may have made them so. */
#include <math.h>

#include "base/text.h"
#include "judge/causes.h"
#include "show/view.h"

void view_noise(const struct view *view, struct view_noise *noise)
{
    struct clock_seen clock = {.least_mhz = INFINITY};
    *noise = (struct view_noise){0};
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (!status_has_time(row->result.status)) continue;
        noise->rows += !row->is_hidden;
        noise->noisy += !row->is_hidden && row->is_noisy;
        clock_seen_add(&clock, row->result.sm_mhz, row->result.clock_reasons);
    }
    causes_of_launches(&noise->causes, view->run->launches, view->run->launch_count);
    causes_of_clock(&noise->causes, &clock);
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
