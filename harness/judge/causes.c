#include "judge/causes.h"

#include <math.h>

#include "device/nvml.h"

/* SM clocks that are further apart than this, as a fraction, are worth naming. */
static const double STEADY_CLOCK = 0.05;

void clock_seen_add(struct clock_seen *seen, double sm_mhz, uint64_t reasons)
{
    seen->least_mhz = fmin(seen->least_mhz, sm_mhz);
    seen->most_mhz = fmax(seen->most_mhz, sm_mhz);
    seen->reasons |= reasons;
}

/* fmax leaves NAN out. */
void causes_of_launches(struct causes *causes, const struct launch_info *launches, int count)
{
    struct surroundings worst;
    double load = NAN;
    int other_processes = -1;
    surroundings_init(&worst);
    for (int i = 0; i < count; i++) {
        const struct surroundings *around = &launches[i].around;
        const int32_t processes[] = {launches[i].start.other_processes,
                                     launches[i].end_other_processes};
        load = fmax(load, fmax(around->start_load, around->end_load));
        if (around->processors > 0) worst.processors = around->processors;
        worst.other_share = fmax(worst.other_share, around->other_share);
        worst.steal_share = fmax(worst.steal_share, around->steal_share);
        for (int p = 0; p < 2; p++)
            if (processes[p] > other_processes) other_processes = processes[p];
    }
    if (worst.processors > 0 && load > worst.processors)
        causes_add(causes, "load %.1f on %d processor%s", load, worst.processors,
                   worst.processors == 1 ? "" : "s");
    surroundings_causes(causes, &worst, other_processes);
}

void causes_of_clock(struct causes *causes, const struct clock_seen *seen)
{
    if (seen->most_mhz > seen->least_mhz * (1 + STEADY_CLOCK))
        causes_add(causes, "SM clock from %.0f to %.0f MHz", seen->least_mhz, seen->most_mhz);
    if (!nvml_is_slowdown(seen->reasons)) return;
    char text[CAUSE_TEXT / 2];
    nvml_reasons_text(seen->reasons, text, sizeof text);
    causes_add(causes, "the GPU slowed down (%s)", text);
}
