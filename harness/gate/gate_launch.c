/* gate_launch.c - launches of a gate's programs, into its pools. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "gate/gate_run_state.h"

enum { LEFT_TEXT = 64 };

struct stage {
    int to;             /* the last round; 0: it is one launch alone */
    int launches, done; /* of all its rounds */
};

int gate_exit_of(enum launch_end end)
{
    static const int codes[] = {
        [LAUNCH_DONE] = EXIT_USAGE, /* what came of it cannot be used */
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

/* " (of 16, about 40 s more)": behind the name of a launch; nothing in a calibration, which asks
 * for one pair at a time. */
static void left_text(const struct gate_run *run, const struct stage *stage, int round,
                      char out[LEFT_TEXT])
{
    double left_s = run->round_s * (stage->to - round);
    out[0] = '\0';
    if (!stage->to || run->is_calibration) return;
    if (left_s > 0)
        snprintf(out, LEFT_TEXT, " (of %d, about %.0f s more)", stage->to, left_s);
    else
        snprintf(out, LEFT_TEXT, " (of %d)", stage->to);
}

/* A terminal has a bar, which the next launch overwrites; elsewhere each launch is a line. */
static void tell_launch(const struct gate_run *run, const struct stage *stage, enum arm arm,
                        int round)
{
    char left[LEFT_TEXT], text[2 * LEFT_TEXT];
    left_text(run, stage, round, left);
    snprintf(text, sizeof text, "round %d, %s%s", round + 1, gate_arm_name(run, arm), left);
    if (!stage->to || run->is_calibration || !terminal_is_live(stderr))
        gate_tell("%s", text);
    else
        gate_draw_bar(stage->done, stage->launches, text);
}

static int launch(struct gate_run *run, enum arm arm, int round, const char *filter,
                  const struct stage *stage)
{
    char label[GATE_LABEL];
    struct timings timings;
    struct program_call call = gate_call(run, arm, round, filter);
    gate_label(run, arm, round, label);
    call.label = label;
    tell_launch(run, stage, arm, round);
    enum launch_end end = program_launch(&call, run->store, &timings);
    if (end != LAUNCH_DONE) return gate_exit_of(end);
    if (program_unchanged(&run->file[gate_program_of(run, arm)]) != 0) {
        timings_release(&timings);
        return EXIT_USAGE;
    }
    if (timings.run.run.simulated && !run->options->allow_simulated) {
        timings_release(&timings);
        return assay_error_as(
            EXIT_USAGE, "the device is simulated: a gate of it proves nothing (--allow-simulated)");
    }
    int status = check_objects(&run->pool[arm], &timings);
    if (status == 0) status = gate_check_launch(run, arm, &timings);
    if (status == 0) status = timings_append(&run->pool[arm], &timings);
    timings_release(&timings);
    return status == 0 ? GATE_MADE : EXIT_USAGE;
}

int gate_launch(struct gate_run *run, enum arm arm, int round, const char *filter)
{
    return launch(run, arm, round, filter, &(struct stage){0});
}

/* The first round is made in any case: without it there is nothing to judge. */
static bool is_out_of_time(const struct gate_run *run, int round)
{
    int limit_s = run->options->max_time_s;
    return limit_s > 0 && round > 0 && clock_s() - run->start_s + run->round_s > limit_s;
}

static int launch_round(struct gate_run *run, int round, bool with_null, const char *filter,
                        struct stage *stage)
{
    double start_s = clock_s();
    for (int turn = 0; turn < ARMS; turn++) {
        enum arm arm = gate_arm_at(round, turn);
        if (arm == ARM_NULL && !with_null) continue;
        int code = launch(run, arm, round, filter, stage);
        if (code != GATE_MADE) return code;
        stage->done++;
    }
    run->round_s = clock_s() - start_s;
    return GATE_MADE;
}

int gate_launch_rounds(struct gate_run *run, int from, int to, bool with_null, const char *filter)
{
    int code = GATE_MADE;
    struct stage stage = {.to = to, .launches = (to - from) * (with_null ? ARMS : ARMS - 1)};
    for (int round = from; round < to && code == GATE_MADE; round++) {
        run->out_of_time = is_out_of_time(run, round);
        if (run->out_of_time) break;
        code = launch_round(run, round, with_null, filter, &stage);
    }
    if (!run->is_calibration) gate_end_bar();
    return code;
}
