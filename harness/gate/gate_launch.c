/* gate_launch.c - launches of a gate's programs, into its pools. */
#include <string.h>

#include "base/exit_code.h"
#include "gate/gate_run_state.h"

static int exit_of(enum launch_end end)
{
    static const int codes[] = {
        [LAUNCH_REFUSED] = EXIT_USAGE, [LAUNCH_DIED] = EXIT_LOST,
        [LAUNCH_EMPTY] = EXIT_NOTHING, [LAUNCH_STOPPED] = EXIT_INTERRUPTED,
        [LAUNCH_FAILED] = EXIT_USAGE,
    };
    return codes[end];
}

/* Between launches too, what one arm measures is one code. */
static int check_objects(const struct timings *pool, const struct timings *timings)
{
    const struct run_info *then = &pool->run.run, *now = &timings->run.run;
    if (pool->run.launch_count == 0) return 0;
    if (then->object_count != now->object_count)
        return assay_error("a launch had %d shared objects, and one before it %d",
                           now->object_count, then->object_count);
    for (int i = 0; i < now->object_count; i++)
        if (strcmp(then->objects[i].sha256, now->objects[i].sha256) != 0)
            return assay_error("%s: the file changed between launches, so they are of two objects",
                               now->objects[i].name);
    return 0;
}

int gate_launch(struct gate_run *run, enum arm arm, int round, const char *filter)
{
    char label[GATE_LABEL];
    struct timings timings;
    struct program_call call = gate_call(run, arm, round, filter);
    gate_label(run, arm, round, label);
    call.label = label;
    fprintf(stderr, "assay: round %d, %s\n", round + 1, gate_arm_name(run, arm));
    enum launch_end end = program_launch(&call, run->store, &timings);
    if (end != LAUNCH_DONE) return exit_of(end);
    if (program_unchanged(&run->file[arm == ARM_CANDIDATE ? ARM_CANDIDATE : ARM_BASE]) != 0) {
        timings_release(&timings);
        return EXIT_USAGE;
    }
    if (timings.run.run.simulated && !run->options->allow_simulated) {
        timings_release(&timings);
        assay_error("the device is simulated: a gate of it proves nothing (--allow-simulated)");
        return EXIT_USAGE;
    }
    int status = check_objects(&run->pool[arm], &timings);
    if (status == 0) status = gate_check_launch(run, arm, &timings);
    if (status == 0) status = timings_append(&run->pool[arm], &timings);
    timings_release(&timings);
    return status == 0 ? GATE_MADE : EXIT_USAGE;
}

int gate_launch_rounds(struct gate_run *run, int from, int to, bool with_null, const char *filter)
{
    for (int round = from; round < to; round++) {
        for (int turn = 0; turn < ARMS; turn++) {
            enum arm arm = gate_arm_at(round, turn);
            if (arm == ARM_NULL && !with_null) continue;
            int code = gate_launch(run, arm, round, filter);
            if (code != GATE_MADE) return code;
        }
    }
    return GATE_MADE;
}
