#include "cmd/explain_side.h"

#include <stdio.h>

#include "base/exit_code.h"
#include "cmd/run_choice.h"
#include "show/explanation.h"
#include "store/store_id.h"

static int exit_of(enum launch_end end)
{
    return end == LAUNCH_STOPPED ? EXIT_INTERRUPTED
           : end == LAUNCH_DIED  ? EXIT_LOST
           : end == LAUNCH_EMPTY ? EXIT_NOTHING
                                 : EXIT_USAGE;
}

int explain_side_measure(struct stored_run *side, const struct program_call *program,
                         bool counted_only, const char *db)
{
    struct program_call call = *program;
    char label[STORE_ID + 16], id[STORE_ID];
    struct timings timings;
    struct store *store;
    if (id_random(id) != 0) return EXIT_USAGE;
    snprintf(label, sizeof label, "explain %.8s", id);
    call.label = label;
    call.counters = EXPLANATION_COUNTERS;
    call.times_too = true;
    if (store_open(&store, db, STORE_WRITE) != 0) return EXIT_USAGE;
    enum launch_end end = program_launch(&call, store, &timings);
    bool again = end == LAUNCH_REFUSED || end == LAUNCH_DIED || end == LAUNCH_EMPTY;
    if (again && !counted_only) {
        call.counters = NULL;
        end = program_launch(&call, store, &timings);
    }
    if (end == LAUNCH_DONE) {
        snprintf(id, sizeof id, "%s", timings.run.run.id);
        timings_release(&timings);
    }
    store_close(store);
    if (end != LAUNCH_DONE) return exit_of(end);
    return run_choice_read(side, true, id, db) == 0 ? EXIT_FINE : EXIT_USAGE;
}
