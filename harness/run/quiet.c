/* quiet.c - waits until no other program uses the processors or the GPU (--wait-quiet). */
#include <stdio.h>

#include "base/clock.h"
#include "run/interrupt.h"
#include "run/runner_state.h"

/* How long is looked at once: a hundred ticks of the kernel's counters on each processor. The load
 * average is no measure here, as it takes a minute to fall when all has ended. */
enum { LOOK_MS = 1000 };

/* What other programs do, over a moment. -1: interrupted. */
static int look(struct runner *runner, struct causes *causes)
{
    struct machine_use before, after;
    struct surroundings around;
    struct device_state state;
    machine_use_read(&before, "");
    /* The worker sends nothing: this waits for time or a signal. */
    if (child_wait(&runner->child, LOOK_MS) == CHILD_STOPPED) return -1;
    machine_use_read(&after, "");
    surroundings_between(&around, &before, &after);
    device_state_init(&state);
    child_look(&runner->child, &state); /* one that is dead is found when it is to measure */
    *causes = (struct causes){0};
    surroundings_causes(causes, &around, state.other_processes);
    return interrupt_signal() != 0 ? -1 : 0;
}

static void say(const char *before, const struct causes *causes, const char *after)
{
    fprintf(stderr, "assay: %s", before);
    for (int i = 0; i < causes->count; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", causes->text[i]);
    fprintf(stderr, "%s\n", after);
}

int quiet_wait(struct runner *runner)
{
    const double begin_s = clock_s(), most_s = runner->options->wait_quiet_s;
    struct causes first, now;
    char before[64];
    if (look(runner, &first) != 0) return -1;
    now = first;
    while (now.count > 0 && clock_s() - begin_s < most_s)
        if (look(runner, &now) != 0) return -1;
    double waited_s = clock_s() - begin_s;
    snprintf(before, sizeof before,
             now.count ? "not quiet after %.0f s: " : "waited %.0f s: ", waited_s);
    if (now.count)
        say(before, &now, "; measuring all the same");
    else if (first.count)
        say(before, &first, "; it is quiet now");
    return 0;
}
